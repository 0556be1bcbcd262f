import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const source = (path: string): string => file(`${path}/src/index.ts`);

/** Tests run on the sources; what is started as a process of its own (CLI, demo) is the build. */
const alias = {
  '@strandline/admin': source('packages/admin'),
  // An alias holds for what begins with it, too: the longer one comes first.
  '@strandline/cli/admin': file('packages/cli/src/admin/start-admin.ts'),
  '@strandline/cli': source('packages/cli'),
  '@strandline/console': source('packages/console'),
  '@strandline/core': source('packages/core'),
  '@strandline/dead-letters': source('packages/dead-letters'),
  '@strandline/inbox': source('packages/inbox'),
  '@strandline/metrics': source('packages/metrics'),
  '@strandline/offsets-local': source('packages/offsets-local'),
  '@strandline/offsets-redis': source('packages/offsets-redis'),
  '@strandline/outbox': source('packages/outbox'),
  '@strandline/pipeline': source('packages/pipeline'),
  '@strandline/setup': source('packages/setup'),
  '@strandline/source-kit': source('packages/source-kit'),
  '@strandline/source-mysql': source('packages/source-mysql'),
  '@strandline/source-postgres': source('packages/source-postgres'),
  '@strandline/tracing': source('packages/tracing'),
  '@strandline/webhook': source('packages/webhook'),
  '@strandline/test-kit': source('test/kit'),
  'strandline/admin': file('packages/strandline/src/admin.ts'),
  strandline: source('packages/strandline'),
};

/** Suites of the fixtures themselves, which start servers of their own. */
const fixtures = 'test/kit/test/*fixture*.test.ts';

/**
 * Files that leave something behind, so each has a process of its own. Crashed lives are abandoned and go on. And contexts
 * that follow promises: in the second file of a process that registers some they are lost at the first await.
 */
const alone = [
  'packages/pipeline/test/letters-order.test.ts',
  'packages/outbox/test/trace.test.ts',
  'packages/tracing/test/tracing.test.ts',
];

/**
 * Of these each takes a minute or more: begun last, they would be waited for alone. Those that mostly wait are begun beside
 * those that use the processor, and those that write much come after those that read logs from their beginning.
 */
const LONG = [
  ...['chaos', 'simulation', 'log-reader-mysql', 'mysql-liveness', 'replay-cli', 'source-mysql'],
  ...['webhook-receivers', 'take-overs', 'bad-input', 'per-key-order', 'newcomer', 'exactly-once-effects'],
  ...[
    'parking-killed',
    'mysql-half-open',
    'crash-poison',
    'mysql-bad-input',
    'bounded-memory',
    'few-duplicates',
  ],
  ...[
    'mysql-positions',
    'dead-letter-store',
    'mysql-history',
    'ownership',
    'completeness',
    'demo',
    'liveness',
  ],
];

class LongOnesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = LONG.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return at < 0 ? LONG.length : at;
    };
    // Sorting keeps the order of the rest.
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  resolve: { alias },
  test: {
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'unit',
          // To load the modules anew for each file takes as long as the tests. So a file must leave nothing running.
          isolate: false,
          include: [
            'packages/*/test/**/*.test.ts',
            'test/kit/test/**/*.test.ts',
            'test/chaos/test/**/*.test.ts',
            'test/bench/test/**/*.test.ts',
            'test/architecture/**/*.test.ts',
          ],
          exclude: [fixtures, ...alone],
          // Some are thousands of cases, and the machine may be busy with servers.
          testTimeout: 20_000,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'simulation',
          include: ['test/simulation/**/*.test.ts', ...alone],
          testTimeout: 60_000,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'servers',
          include: ['infra/servers/test/**/*.test.ts', fixtures],
          globalSetup: ['test/kit/src/global-setup-downloads.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'integration',
          isolate: false,
          restoreMocks: true,
          include: ['test/integration/**/*.test.ts', 'test/conformance/**/*.test.ts'],
          globalSetup: ['test/kit/src/global-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
    maxWorkers: 3,
    sequence: { sequencer: LongOnesFirst },
  },
});
