import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { History, type Flavour } from '../src/gtids.js';
import { PositionOrder } from '../src/position-order.js';
import { formatPosition, parsePosition, WHOLE, type LogPosition } from '../src/position.js';

const A = '3e11fa47-71ca-11e1-9e33-c80aa9429562';
const B = 'b411fa47-71ca-11e1-9e33-c80aa9429562';

const offset = fc.oneof(fc.nat(2_000), fc.integer({ min: 2 ** 32, max: 2 ** 40 }));
/** A log file's name: what its base name may be, and a number. */
const file = fc
  .tuple(
    fc.string({ unit: fc.constantFrom(...Array.from('ab.@:- é')), minLength: 1, maxLength: 8 }),
    fc.nat(2_000_000),
  )
  .map(([base, number]) => `${base}.${String(number).padStart(6, '0')}`);
const at = fc
  .record({ file, offset, begun: fc.option(fc.nat(2 ** 32), { nil: undefined }) })
  .map(({ begun, ...place }) => (begun === undefined ? place : { ...place, begun }));

const gtids = {
  mysql: fc
    .tuple(fc.constantFrom(A, B), fc.constantFrom('', 'shop:'), fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }))
    .map(([uuid, tag, number]) => `${uuid}:${tag}${String(number)}`),
  mariadb: fc
    .tuple(fc.nat(2 ** 32 - 1), fc.nat(2 ** 32 - 1), fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }))
    .map((all) => all.join('-')),
};
const executed = fc.oneof(
  fc.constant(''),
  gtids.mysql,
  gtids.mariadb,
  fc.constant(`${A}:1-5:9:shop:1-2,${B}:7`),
  fc.constant('0-1-9,10-2-3'),
);
const position: fc.Arbitrary<LogPosition> = fc.record({
  kind: fc.constant('log' as const),
  server: fc.oneof(fc.constant(A), fc.constant('server_id 1')),
  at,
  ordinal: fc.oneof(fc.nat(5), fc.constant(WHOLE)),
  gtid: fc.oneof(fc.constant(''), gtids.mysql, gtids.mariadb),
  executed,
  from: fc.option(fc.record({ at, executed })),
});

describe('the text of a position', () => {
  it('reads back as it was written, and prints the same again', () => {
    fc.assert(
      fc.property(position, (place) => {
        const text = formatPosition(place);
        expect(parsePosition(text)).toEqual(place);
        expect(formatPosition(parsePosition(text) as LogPosition)).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  it('that somebody has changed is read as all that it says, or refused with MYSQL_POSITION', () => {
    const changed = fc
      .tuple(position, fc.nat(), fc.constantFrom('', ';', ':', '@', '0', '-', ',', 'x', ' ', '\n'), fc.nat(2))
      .map(([place, index, put, left]) => {
        const text = formatPosition(place);
        const from = index % (text.length + 1);
        return text.slice(0, from) + put + text.slice(from + left);
      });
    const any = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...Array.from(';:1@a.-')) }),
      changed,
    );
    fc.assert(
      fc.property(any, (text) => {
        let read;
        try {
          read = parsePosition(text);
        } catch (error) {
          expect(error).toMatchObject({ code: 'MYSQL_POSITION' });
          return;
        }
        if (read.kind === 'log') expect(withoutZeros(formatPosition(read))).toBe(withoutZeros(text));
      }),
      { numRuns: 5_000 },
    );
  });

  it('whose GTIDs are none is refused before anything is compared with it', () => {
    for (const part of [{ gtid: 'x' }, { gtid: `${A}:0x1` }, { gtid: '1-2' }]) {
      const text = formatPosition({
        ...{ server: A, at: { file: 'binlog.000001', offset: 4 }, ordinal: 1 },
        executed: '',
        from: null,
        ...part,
      });
      expect(() => parsePosition(text), text).toThrow(expect.objectContaining({ code: 'MYSQL_POSITION' }));
    }
  });
});

/** Zeros in front of a number change nothing of it. */
function withoutZeros(text: string): string {
  return text.replaceAll(/(?<![\w.])0+(?=\d)/g, '');
}

/** What writes a log: a transaction takes the next number of a source, or leaves one out for later. */
type Write = readonly [source: number, late: boolean];

/** The GTIDs of a log in commit order: numbers of one source can come out of order on MySQL, and holes be filled. */
function gtidsOf(flavour: Flavour, writes: readonly Write[]): string[] {
  const sources = flavour === 'mysql' ? [`${A}:`, `${B}:`, `${A}:shop:`] : ['0-1-', '1-2-', '0-3-'];
  const next = new Map<string, number>();
  const left: string[] = [];
  const log: string[] = [];
  for (const [index, late] of writes) {
    const source = sources[index % sources.length] ?? '';
    const counter = flavour === 'mysql' ? source : (source.split('-')[0] ?? '');
    const number = (next.get(counter) ?? 0) + 1;
    next.set(counter, number);
    if (late && flavour === 'mysql') left.push(source + String(number));
    else log.push(source + String(number));
    if (left.length > 2) log.push(left.shift() ?? '');
  }
  return [...log, ...left];
}

/** Every place of a log with its rank: each transaction's start, its rows and the whole, and the log's end. */
function placesOf(flavour: Flavour, log: readonly string[], server: (n: number) => LogPosition['at']) {
  const history = new History(flavour, '');
  const places: { readonly text: string; readonly rank: number }[] = [];
  const add = (n: number, ordinal: number, gtid: string, before: string, rank: number): void => {
    places.push({
      text: formatPosition({ server: A, at: server(n), ordinal, gtid, executed: before, from: null }),
      rank,
    });
  };
  log.forEach((gtid, n) => {
    const before = history.text;
    add(n, 0, '', before, n * 10);
    add(n, 1, gtid, before, n * 10 + 1);
    add(n, 2, gtid, before, n * 10 + 2);
    add(n, WHOLE, gtid, before, (n + 1) * 10);
    history.add(gtid);
  });
  add(log.length, 0, '', history.text, log.length * 10);
  return places;
}

const writes = fc.array(fc.tuple(fc.nat(2), fc.boolean()), { minLength: 1, maxLength: 12 });

describe('the order of positions', () => {
  it.each(['mysql', 'mariadb'] as const)(
    'of %s is that of the commits, whatever the numbers are, on whatever server each of them was written',
    (flavour) => {
      fc.assert(
        fc.property(writes, fc.boolean(), (all, failedOver) => {
          const log = gtidsOf(flavour, all);
          const order = new PositionOrder(flavour);
          // The same transactions lie elsewhere in the files of another server.
          const fileOf = (n: number): LogPosition['at'] =>
            failedOver && n % 2 === 1
              ? { file: 'a.000001', offset: 9_999 - n }
              : { file: 'z.000009', offset: 4 + n };
          const places = placesOf(flavour, log, fileOf);
          for (const a of places) {
            for (const b of places) {
              expect(Math.sign(order.compare(a.text, b.text)), `${a.text} and ${b.text}`).toBe(
                Math.sign(a.rank - b.rank),
              );
            }
          }
        }),
        { numRuns: 60 },
      );
    },
  );

  it('without GTIDs is that of the files, whose names grow by a number', () => {
    const place = fc.record({
      number: fc.oneof(fc.nat(12), fc.integer({ min: 999_990, max: 1_000_010 })),
      offset,
      ordinal: fc.nat(12),
    });
    const rank = ({
      number,
      offset: from,
      ordinal,
    }: {
      number: number;
      offset: number;
      ordinal: number;
    }): bigint => (BigInt(number) << 80n) + (BigInt(from) << 16n) + BigInt(ordinal);
    const printed = ({
      number,
      offset: from,
      ordinal,
    }: {
      number: number;
      offset: number;
      ordinal: number;
    }): string =>
      formatPosition({
        ...{ server: 'server_id 1', ordinal, gtid: '', executed: '', from: null },
        at: { file: `binlog.${String(number).padStart(6, '0')}`, offset: from },
      });
    const order = new PositionOrder('mysql');
    fc.assert(
      fc.property(place, place, (a, b) => {
        const expected = rank(a) === rank(b) ? 0 : rank(a) < rank(b) ? -1 : 1;
        expect(Math.sign(order.compare(printed(a), printed(b)))).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
    const asText = fc.property(place, place, (a, b) => rank(a) < rank(b) === printed(a) < printed(b));
    expect(fc.check(asText, { numRuns: 10_000 }).failed).toBe(true);
  });
});
