import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Which package of ours may import which: the arrows of ARCHITECTURE.md. Adapters know the core and nothing
 * else, the pipeline knows ports and no adapter, and what users touch stands on top.
 */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  'source-kit': ['@strandline/core'],
  'source-mysql': ['@strandline/core', '@strandline/source-kit'],
  'source-postgres': ['@strandline/core', '@strandline/source-kit'],
  'dead-letters': ['@strandline/core'],
  inbox: ['@strandline/core'],
  webhook: ['@strandline/core'],
  outbox: [],
  'offsets-redis': ['@strandline/core'],
  'offsets-local': ['@strandline/core'],
  pipeline: ['@strandline/core'],
  admin: ['@strandline/core', '@strandline/pipeline'],
  // Types alone, and the page in the browser knows no other package either.
  console: ['@strandline/admin'],
  setup: ['@strandline/core', '@strandline/outbox', '@strandline/source-kit'],
  cli: [
    '@strandline/admin',
    '@strandline/console',
    '@strandline/core',
    '@strandline/metrics',
    '@strandline/pipeline',
    '@strandline/setup',
  ],
  metrics: ['@strandline/core', '@strandline/pipeline'],
  tracing: ['@strandline/core', '@strandline/pipeline'],
  strandline: [
    '@strandline/cli',
    '@strandline/cli/admin',
    '@strandline/core',
    '@strandline/dead-letters',
    '@strandline/inbox',
    '@strandline/metrics',
    '@strandline/offsets-local',
    '@strandline/offsets-redis',
    '@strandline/pipeline',
    '@strandline/source-kit',
    '@strandline/source-mysql',
    '@strandline/source-postgres',
    '@strandline/tracing',
    '@strandline/webhook',
  ],
  demo: ['@strandline/servers', 'strandline'],
};

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
    .map((file) => path.join(folder, file));
}

/** What a file imports or exports from, types too, and what it imports when it is needed. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const { staticImports, staticExports, dynamicImports } = parseSync(file, text).module;
  const names = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) => entries.map((entry) => entry.moduleRequest?.value)),
    ...dynamicImports.map(({ moduleRequest }) => text.slice(moduleRequest.start + 1, moduleRequest.end - 1)),
  ];
  return [...new Set(names.filter((name) => name !== undefined))];
}

const packages = readdirSync(path.join(root, 'packages'));

test('every package has its arrows written down', () => {
  expect(packages.toSorted()).toEqual(Object.keys(ARROWS).toSorted());
});

describe.each(packages)('%s', (name) => {
  const folder = path.join(root, 'packages', name);
  const files = sourceFiles(path.join(folder, 'src'));
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
    peerDependencies?: Record<string, string>;
  };

  test('imports only the packages of ours that it may', () => {
    const ours = files.flatMap(importsOf).filter((name) => /^(@strandline\/|strandline$)/.test(name));
    expect(new Set(ARROWS[name])).toEqual(new Set([...ours, ...(ARROWS[name] ?? [])]));
  });

  test('imports only what its package.json lists', () => {
    const listed = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }));
    const outside = files
      .flatMap(importsOf)
      .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
      .map((name) =>
        name
          .split('/')
          .slice(0, name.startsWith('@') ? 2 : 1)
          .join('/'),
      );
    expect(outside.filter((name) => !listed.has(name))).toEqual([]);
  });

  test('has no circle of files', () => {
    expect(circles(files)).toEqual([]);
  });
});

/** The rooms of the page in the browser, and which may look into which: texts know nothing, views know everything. */
const PAGE: Readonly<Record<string, readonly string[]>> = {
  '': ['browser', 'keyboard', 'parts', 'place', 'state', 'views'],
  views: ['actions', 'api', 'attention', 'keyboard', 'parts', 'place', 'state', 'text'],
  parts: ['actions', 'api', 'attention', 'browser', 'keyboard', 'place', 'state', 'text'],
  actions: ['api', 'browser', 'state', 'text'],
  keyboard: ['browser', 'place'],
  state: ['api', 'browser'],
  api: ['browser'],
  attention: ['text'],
  browser: [],
  place: [],
  text: [],
};

describe('the page of the console', () => {
  const folder = path.join(root, 'packages/console/page');
  const files = sourceFiles(folder).filter((file) => !file.endsWith('vite.config.ts'));

  test('loads nothing at run time but what is built into it, and types of ours', () => {
    const libraries = files.flatMap(importsOf).filter((name) => !name.startsWith('.'));
    expect(new Set(libraries)).toEqual(
      new Set([
        ...['@preact/signals', '@strandline/admin', 'diff', 'eventsource-parser/stream'],
        ...['preact', 'preact/hooks', 'uplot'],
      ]),
    );
  });

  test.each(Object.keys(PAGE))('the room "%s" looks into the rooms that it may', (room) => {
    const inside = files.filter((file) => path.relative(folder, path.dirname(file)) === room);
    expect(inside).not.toEqual([]);
    const rooms = inside.flatMap((file) =>
      importsOf(file)
        .filter((name) => name.startsWith('.'))
        .map((name) => path.relative(folder, path.dirname(path.resolve(path.dirname(file), name)))),
    );
    expect([...new Set(rooms)].filter((other) => other !== room && !PAGE[room]?.includes(other))).toEqual([]);
  });

  test('has no circle of files', () => {
    expect(circles(files)).toEqual([]);
  });
});

test('the core does no I/O and reads neither clock nor chance', () => {
  for (const file of sourceFiles(path.join(root, 'packages/core/src'))) {
    expect(
      importsOf(file).filter((name) => !name.startsWith('./')),
      file,
    ).toEqual([]);
    // Comments may name what the code must not use.
    const code = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    expect(code, file).not.toMatch(
      /Date\.now|new Date|performance\.|Math\.random|setTimeout|setImmediate|Promise\.|await |process\./,
    );
  }
});

/** Circles of run-time imports: a type that two files share holds nothing up, but it may as well lie in one of them. */
function circles(files: readonly string[]): string[] {
  const edges = new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter((name) => name.startsWith('.'))
        .map((name) => path.resolve(path.dirname(file), name.replace(/\.js$/, '.ts'))),
    ]),
  );
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): void => {
    const start = trail.indexOf(file);
    if (start >= 0) {
      found.push([...trail.slice(start), file].map((step) => path.basename(step)).join(' → '));
      return;
    }
    if (done.has(file)) return;
    for (const next of edges.get(file) ?? []) visit(next, [...trail, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  return found;
}
