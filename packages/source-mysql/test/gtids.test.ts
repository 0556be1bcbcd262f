import { GtidSet, MariadbGtidPosition } from '@vlasky/zongji';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { History, parseExecuted, withGtid, type Flavour } from '../src/gtids.js';

const A = '3e11fa47-71ca-11e1-9e33-c80aa9429562';
const B = '4e11fa47-71ca-11e1-9e33-c80aa9429562';

describe('a GTID set of MySQL', () => {
  it('keeps its holes', () => {
    const set = parseExecuted('mysql', `${A}:1-3:5:9-10`);
    expect([1, 3, 4, 5, 6, 9, 11].map((n) => set.contains(`${A}:${String(n)}`))).toEqual([
      ...[true, true, false, true, false, true, false],
    ]);
    expect(set.text).toBe(`${A}:1-3:5:9-10`);
  });

  it('tells servers and tags apart', () => {
    const set = parseExecuted('mysql', `${A}:1-3:shop:1-2,\n${B}:7`);
    expect(set.contains(`${A}:shop:2`)).toBe(true);
    expect(set.contains(`${A}:shop:3`)).toBe(false);
    expect(set.contains(`${A}:other:1`)).toBe(false);
    expect(set.contains(`${B}:7`)).toBe(true);
    expect(set.contains(`${B}:1`)).toBe(false);
  });

  it('that is empty has nothing', () => {
    expect(parseExecuted('mysql', '').contains(`${A}:1`)).toBe(false);
  });

  it('covers another one when it has all of it', () => {
    const set = parseExecuted('mysql', `${A}:1-5:9,${B}:1-2:shop:1-3`);
    for (const other of ['', `${A}:2-4:9`, `${A}:1,\n${B}:shop:2`, set.text])
      expect(set.covers(other)).toBe(true);
    for (const other of [`${A}:5-6`, `${B}:1:shop:4`, `${B}:other:1`]) expect(set.covers(other)).toBe(false);
    expect(parseExecuted('mysql', '').covers('')).toBe(true);
    expect(parseExecuted('mysql', '').covers(`${A}:1`)).toBe(false);
  });
});

describe('a GTID position of MariaDB', () => {
  it('has one watermark for each domain', () => {
    const position = parseExecuted('mariadb', '0-1-100,2-5-7');
    expect(['0-1-100', '0-1-101', '2-5-7', '2-9-6', '1-1-1'].map((gtid) => position.contains(gtid))).toEqual([
      ...[true, false, true, true, false],
    ]);
  });

  it('covers another one when no domain of that is further on', () => {
    const position = parseExecuted('mariadb', '0-1-100,2-5-7');
    for (const other of ['', '0-9-100', '2-5-6,0-1-1']) expect(position.covers(other)).toBe(true);
    for (const other of ['0-1-101', '1-1-1,0-1-1']) expect(position.covers(other)).toBe(false);
  });

  it('counts beyond 2^53', () => {
    const position = parseExecuted('mariadb', '0-1-9007199254740993');
    expect(position.contains('0-1-9007199254740993')).toBe(true);
    expect(position.contains('0-1-9007199254740994')).toBe(false);
  });
});

describe('what is executed behind a transaction', () => {
  it.each<[Flavour, string, string, string]>([
    ['mysql', '', `${A}:1`, `${A}:1`],
    ['mysql', `${A}:1-3:5`, `${A}:4`, `${A}:1-5`],
    ['mariadb', '', '0-1-1', '0-1-1'],
    ['mariadb', '0-1-4,2-5-7', '0-9-5', '0-9-5,2-5-7'],
  ])('%s: %s and %s', (flavour, before, gtid, behind) => {
    expect(parseExecuted(flavour, withGtid(before, gtid)).text).toBe(behind);
  });
});

describe('a history', () => {
  it('tells what was executed before each of many transactions', () => {
    const history = new History('mysql', `${A}:1-5`);
    const marks = Array.from({ length: 300 }, (_, index) => {
      const mark = history.mark();
      history.add(`${A}:${String(index + 7)}`);
      return mark;
    });
    expect(marks[0]?.text).toBe(`${A}:1-5`);
    expect(marks[1]?.text).toBe(`${A}:1-5:7`);
    for (const n of [2, 63, 64, 65, 66, 129, 299]) expect(marks[n]?.text).toBe(`${A}:1-5:7-${String(6 + n)}`);
    history.add(`${A}:6`);
    expect(history.text).toBe(`${A}:1-306`);
  });

  it('keeps a place that was marked, whatever is added later', () => {
    const history = new History('mariadb', '0-1-5');
    const mark = history.mark();
    history.add('0-2-6');
    history.add('1-2-1');
    expect(mark.text).toBe('0-1-5');
    expect(history.text.split(',').sort()).toEqual(['0-2-6', '1-2-1']);
  });

  /** Few sources and small numbers: runs, holes that are filled, tags and servers that take turns. */
  const gtids = (...sources: string[]): fc.Arbitrary<string[]> =>
    fc
      .array(
        fc.record({
          source: fc.constantFrom(...sources),
          from: fc.integer({ min: 1, max: 30 }),
          count: fc.integer({ min: 1, max: 5 }),
        }),
      )
      .map((runs) =>
        runs.flatMap(({ source, from, count }) =>
          Array.from({ length: count }, (_, i) => `${source}${String(from + i)}`),
        ),
      );

  it('has the text of the set of MySQL that it stands for', () => {
    fc.assert(
      fc.property(gtids(`${A}:`, `${B}:`, `${A}:shop:`, `${A}:zoo:`), (added) => {
        const history = new History('mysql', '');
        const set = new GtidSet();
        for (const gtid of added) {
          expect(history.mark().text).toBe(set.toString());
          history.add(gtid);
          set.add(gtid);
        }
        expect(history.text).toBe(set.toString());
      }),
    );
  });

  it('has the text of the position of MariaDB that it stands for', () => {
    fc.assert(
      fc.property(gtids('0-1-', '0-11-', '10-1-', '1-1-'), (added) => {
        const history = new History('mariadb', '');
        const position = new MariadbGtidPosition();
        for (const gtid of added) {
          const [domainId = '', serverId = '', seqNo = ''] = gtid.split('-');
          history.add(gtid);
          position.add({ domainId: Number(domainId), serverId: Number(serverId), seqNo });
          expect(history.text).toBe(position.toString());
        }
      }),
    );
  });
});
