import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { describe, expect, test } from 'vitest';

const infra = path.resolve(import.meta.dirname, '..', '..', 'infra');
const read = (file: string): string => readFileSync(path.join(infra, file), 'utf8');

/** Seconds: the default `drainTimeout`, and what handlers get after their signal was aborted. */
const DRAIN = 30 + 5;

describe('the systemd unit', () => {
  const unit = read('systemd/strandline.service');
  const setting = (name: string): string[] =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

  test('restarts what a restart can help, and gives it the time to drain', () => {
    expect(setting('Restart')).toEqual(['on-failure']);
    expect(setting('RestartPreventExitStatus')).toEqual(['2']);
    expect(Number(setting('TimeoutStopSec')[0])).toBeGreaterThan(DRAIN);
  });

  test('takes secrets from a file of its own, and runs as nobody in particular', () => {
    expect(setting('EnvironmentFile')).toEqual(['-/etc/strandline/strandline.env']);
    expect(setting('DynamicUser')).toEqual(['yes']);
    expect(setting('NoNewPrivileges')).toEqual(['yes']);
  });
});

describe('the container image', () => {
  const lines = read('container/Dockerfile').split('\n');
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM')));

  test('runs as a user that is not root, and ends when it is told to', () => {
    expect(last).toContain('USER node');
    expect(last).toContain('STOPSIGNAL SIGTERM');
    expect(last.find((line) => line.startsWith('ENTRYPOINT'))).toMatch(/^ENTRYPOINT \["node", /);
  });

  test('is built without the secrets that lie about', () => {
    const left = read('container/Dockerfile.dockerignore').split('\n');
    expect(left).toEqual(expect.arrayContaining(['**/.env*', '**/*.env']));
  });

  test('has a health check that asks where the process listens, and restarts nothing that answers', () => {
    expect(last.join('\n')).toMatch(/HEALTHCHECK [^]*"health", "--probe", "livez"\]/);
    expect(last.join('\n')).toContain('STRANDLINE_ADMIN=0.0.0.0:9464');
    expect(last).toContain('EXPOSE 9464');
  });
});

describe('the Kubernetes manifest', () => {
  const [deployment, budget] = parseAllDocuments(read('kubernetes/strandline.yaml')).map(
    (document) => document.toJS() as Manifest,
  );
  const pod = deployment?.spec.template?.spec;
  const [container] = pod?.containers ?? [];

  test('has an owner and a standby, one of which stays', () => {
    expect(deployment?.kind).toBe('Deployment');
    expect(deployment?.spec.replicas).toBe(2);
    expect(budget).toMatchObject({ kind: 'PodDisruptionBudget', spec: { minAvailable: 1 } });
    expect(budget?.spec.selector).toEqual(deployment?.spec.selector);
    expect(deployment?.spec.template?.metadata.labels).toEqual(deployment?.spec.selector?.matchLabels);
  });

  test('restarts what does not answer, and not what only stands still', () => {
    expect(container?.livenessProbe).toMatchObject({ httpGet: { path: '/livez', port: 'admin' } });
    expect(container?.readinessProbe).toMatchObject({ httpGet: { path: '/readyz', port: 'admin' } });
    expect(container?.ports).toEqual([{ name: 'admin', containerPort: 9464 }]);
  });

  test('gives it the time to drain, and no rights', () => {
    expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(DRAIN);
    expect(pod?.securityContext).toMatchObject({ runAsNonRoot: true });
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });
});

interface Manifest {
  readonly kind: string;
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: { readonly matchLabels: object };
    readonly template?: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: object;
        readonly containers: readonly {
          readonly ports: unknown;
          readonly securityContext: unknown;
          readonly livenessProbe: unknown;
          readonly readinessProbe: unknown;
        }[];
      };
    };
  };
}
