import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { History, parseExecuted, withGtid } from '../src/gtids.js';

const A = '3e11fa47-71ca-11e1-9e33-c80aa9429562';
const B = 'b411fa47-71ca-11e1-9e33-c80aa9429562';
/** What a GTID of MySQL has in front of its number: servers, and tags of them, one of which begins as another. */
const SOURCES = [`${A}:`, `${A}:shop:`, `${A}:shop2:`, `${B}:`, `${B}:shop:`] as const;

/** The model of a set: every GTID in it, one by one. */
type Model = ReadonlySet<string>;

interface Interval {
  readonly source: string;
  readonly first: number;
  readonly last: number;
}

const interval: fc.Arbitrary<Interval> = fc
  .record({
    source: fc.constantFrom(...SOURCES),
    first: fc.integer({ min: 1, max: 25 }),
    length: fc.oneof(fc.constant(0), fc.nat(6)),
  })
  .map(({ source, first, length }) => ({ source, first, last: first + length }));
const intervals = fc.array(interval, { maxLength: 10 });

const gtidsOf = ({ source, first, last }: Interval): string[] =>
  Array.from({ length: last - first + 1 }, (_, index) => source + String(first + index));
const modelOf = (all: readonly Interval[]): Model => new Set(all.flatMap(gtidsOf));

/** As somebody may write it: in any order, overlapping, in capitals, with blanks and line ends as the server prints. */
function written(all: readonly Interval[], odd: boolean): string {
  const entries = all.map(
    ({ source, first, last }) => `${source}${String(first)}${first === last ? '' : `-${String(last)}`}`,
  );
  return odd ? entries.map((entry) => ` ${entry.toUpperCase()}`).join(',\n') : entries.join(',');
}

/** Numbers that are written here, and those next to them. */
const EVERY = SOURCES.flatMap((source) =>
  Array.from({ length: 35 }, (_, index) => source + String(index + 1)),
);
const isIn = (small: Model, large: Model): boolean => [...small].every((gtid) => large.has(gtid));

describe('a GTID set of MySQL, against a plain set', () => {
  it('has those GTIDs and no others, holes and all', () => {
    fc.assert(
      fc.property(intervals, fc.boolean(), (all, odd) => {
        const [set, model] = [parseExecuted('mysql', written(all, odd)), modelOf(all)];
        expect(EVERY.filter((gtid) => set.contains(gtid))).toEqual(EVERY.filter((gtid) => model.has(gtid)));
      }),
    );
  });

  it('has one text, however it was written, and reads back from it', () => {
    fc.assert(
      fc.property(intervals, fc.boolean(), fc.boolean(), (all, odd, backwards) => {
        const model = modelOf(all);
        const singles = [...model].map((gtid) => {
          const cut = gtid.lastIndexOf(':') + 1;
          const number = Number(gtid.slice(cut));
          return { source: gtid.slice(0, cut), first: number, last: number };
        });
        const { text } = parseExecuted('mysql', written(all, odd));
        expect(parseExecuted('mysql', written(backwards ? singles.reverse() : singles, false)).text).toBe(
          text,
        );
        expect(parseExecuted('mysql', text).text).toBe(text);
      }),
    );
  });

  it('covers another one exactly when it has each of its GTIDs', () => {
    const related = fc.tuple(intervals, intervals, fc.boolean());
    fc.assert(
      fc.property(related, fc.boolean(), ([some, more, within], odd) => {
        const [small, large] = within ? [some, [...some, ...more]] : [some, more];
        const expected = isIn(modelOf(small), modelOf(large));
        expect(parseExecuted('mysql', written(large, odd)).covers(written(small, odd))).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it('and one more GTID are their union', () => {
    fc.assert(
      fc.property(intervals, fc.constantFrom(...EVERY), (all, gtid) => {
        const { text } = parseExecuted('mysql', written(all, false));
        const model = new Set([...modelOf(all), gtid]);
        const set = parseExecuted('mysql', withGtid(text, gtid));
        expect(EVERY.filter((each) => set.contains(each))).toEqual(EVERY.filter((each) => model.has(each)));
        const history = new History('mysql', text);
        history.add(gtid);
        expect(history.text).toBe(set.text);
      }),
    );
  });

  it('counts up to 2^63 - 1', () => {
    const number = fc.bigInt({ min: 2n, max: 2n ** 63n - 2n });
    fc.assert(
      fc.property(number, fc.bigInt({ min: 0n, max: 1_000n }), (first, length) => {
        const last = first + length < 2n ** 63n - 1n ? first + length : first;
        const set = parseExecuted('mysql', `${A}:${String(first)}-${String(last)}`);
        const has = (n: bigint): boolean => set.contains(`${A}:${String(n)}`);
        expect([has(first - 1n), has(first), has(last), has(last + 1n)]).toEqual([false, true, true, false]);
      }),
    );
  });
});

/** The last GTID of each domain; in a domain the numbers grow, whichever server writes. */
const domains = fc.dictionary(
  fc.constantFrom('0', '1', '10', '4294967295'),
  fc.record({ server: fc.constantFrom(1, 11, 4_294_967_295), sequence: fc.integer({ min: 1, max: 120 }) }),
);
type Domains = Readonly<Record<string, { readonly server: number; readonly sequence: number }>>;
const entries = (all: Domains): string[] =>
  Object.entries(all).map(
    ([domain, { server, sequence }]) => `${domain}-${String(server)}-${String(sequence)}`,
  );

describe('a GTID position of MariaDB, against a map of its domains', () => {
  it('has what lies at or before the last one of its domain', () => {
    fc.assert(
      fc.property(
        domains,
        fc.constantFrom('0', '1', '10', '2'),
        fc.integer({ min: 1, max: 125 }),
        (all, domain, n) => {
          const position = parseExecuted('mariadb', entries(all).join(','));
          const last = (all as Partial<Domains>)[domain]?.sequence ?? 0;
          for (const server of ['1', '7'])
            expect(position.contains(`${domain}-${server}-${String(n)}`)).toBe(n <= last);
        },
      ),
    );
  });

  it('has one text, whatever the order of its domains', () => {
    fc.assert(
      fc.property(domains, (all) => {
        const { text } = parseExecuted('mariadb', entries(all).join(','));
        expect(parseExecuted('mariadb', ` ${entries(all).reverse().join(', ')}`).text).toBe(text);
        expect(parseExecuted('mariadb', text).text).toBe(text);
      }),
    );
  });

  it('covers another one exactly when no domain of that is further on', () => {
    fc.assert(
      fc.property(domains, domains, (small, large) => {
        const known = large as Partial<Domains>;
        const expected = Object.entries(small).every(
          ([domain, { sequence }]) => sequence <= (known[domain]?.sequence ?? 0),
        );
        const position = parseExecuted('mariadb', entries(large).join(','));
        expect(position.covers(entries(small).join(','))).toBe(expected);
      }),
    );
  });

  it('and one more GTID have that one as the last of its domain', () => {
    fc.assert(
      fc.property(
        domains,
        fc.constantFrom('0', '1', '2'),
        fc.integer({ min: 1, max: 200 }),
        (all, domain, n) => {
          const gtid = `${domain}-5-${String(n)}`;
          const behind = parseExecuted('mariadb', withGtid(entries(all).join(','), gtid));
          const expected = entries({ ...all, [domain]: { server: 5, sequence: n } });
          expect(behind.text.split(',').sort()).toEqual(expected.sort());
          const history = new History('mariadb', entries(all).join(','));
          history.add(gtid);
          expect(history.text).toBe(behind.text);
        },
      ),
    );
  });
});

describe('zeros in front of a number', () => {
  it('are no other number', () => {
    const position = parseExecuted('mariadb', '0-1-12,3-1-4');
    expect(position.covers('00-1-12')).toBe(true);
    expect(position.covers('0-1-0012,03-01-04')).toBe(true);
    expect(position.covers('0-1-0013')).toBe(false);
  });
});

describe('a text that is no set', () => {
  const mutilated = fc
    .tuple(intervals, fc.nat(), fc.constantFrom('', 'x', ':', '-', ',', '0', '"', ';'), fc.nat(2))
    .map(([all, at, put, left]) => {
      const { text } = parseExecuted('mysql', written(all, false));
      const from = at % (text.length + 1);
      return text.slice(0, from) + put + text.slice(from + left);
    });
  const any = fc.oneof(
    fc.string(),
    mutilated,
    fc.string({ unit: fc.constantFrom(...Array.from('0123-,:a ')) }),
  );

  it.each(['mysql', 'mariadb'] as const)(
    'of %s is MYSQL_POSITION, and any other is read as what it prints',
    (flavour) => {
      fc.assert(
        fc.property(any, (text) => {
          let read;
          try {
            read = parseExecuted(flavour, text);
          } catch (error) {
            expect(error).toMatchObject({ code: 'MYSQL_POSITION' });
            return;
          }
          expect(parseExecuted(flavour, read.text).text).toBe(read.text);
          expect(read.covers(text)).toBe(true);
        }),
        { numRuns: 2_000 },
      );
    },
  );
});
