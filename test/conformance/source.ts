import type { Offset, OpenRequest, OutboxEvent, Position, Source, SourceStream } from '@strandline/core';
import { memoryOffsets } from '@strandline/offsets-local';
import { TestLog, waitUntil, watchFor } from '@strandline/test-kit';
import { describe, expect, it } from 'vitest';
import { AlreadySettled } from '../../packages/pipeline/src/already-settled.js';
import { expectExplained } from './findings.js';
import { Reading } from './reading.js';

/** A transaction that the test commits or rolls back when it likes. */
export interface OpenTransaction {
  /** Inserts a row per key into the outbox; resolves with their ids. */
  insert(...keys: readonly string[]): Promise<string[]>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** An empty outbox on a server, for one test: what differs between the kinds of sources. */
export interface SourceDriver extends AsyncDisposable {
  /** A source over the outbox. Each call is another process that runs the same pipeline. */
  source(options?: { readonly start?: 'now' | 'snapshot' }): Source;
  begin(): Promise<OpenTransaction>;
  /** Commits one transaction with a row per key; resolves with their ids. */
  insert(...keys: readonly string[]): Promise<string[]>;
  /** Commits one transaction with so many rows, with keys k0, k1, … k9 in turn and payloads of so many bytes. */
  insertMany(count: number, payload?: number): Promise<void>;
  /** Commits something that is none of the source's business. */
  commitElsewhere(): Promise<void>;
  /** Breaks every connection that a source has now; new ones work. */
  cutConnections(): Promise<void>;
  /** Resolves once `open` waits for a transaction. Only of a log that can't be opened before those that are open end. */
  openingWaits?(): Promise<void>;
  /** From where the server keeps the log for this pipeline. Only of a server that knows its readers. */
  kept?(): Promise<Position>;
}

const PIPELINE = 'conformance';

type SourceReading = Reading<SourceStream>;

/** Processes that run one pipeline over one outbox: they share its saved offset. */
class Processes implements AsyncDisposable {
  readonly log = new TestLog();
  readonly storage = new Map<string, Offset>();
  readonly offsets = memoryOffsets({ storage: this.storage });
  readonly #streams: SourceStream[] = [];
  readonly #abort = new AbortController();

  constructor(readonly driver: SourceDriver) {}

  get saved(): Offset | undefined {
    return this.storage.get(PIPELINE);
  }

  request(overrides: Partial<OpenRequest> = {}): OpenRequest {
    return {
      pipeline: PIPELINE,
      load: () => this.offsets.load(PIPELINE),
      claim: (seed) => this.offsets.claim(PIPELINE, seed),
      standby: () => undefined,
      signal: this.#abort.signal,
      log: this.log,
      ...overrides,
    };
  }

  async open(
    options?: { readonly start?: 'now' | 'snapshot' },
    overrides?: Partial<OpenRequest>,
  ): Promise<SourceStream> {
    const stream = await this.driver.source(options).open(this.request(overrides));
    this.#streams.push(stream);
    return stream;
  }

  async reader(options?: { readonly start?: 'now' | 'snapshot' }): Promise<SourceReading> {
    return new Reading(await this.open(options));
  }

  /** Saves what a pipeline would have saved. */
  async save(change: Partial<Offset>): Promise<void> {
    const held = await this.offsets.load(PIPELINE);
    if (held === null) throw new Error('nothing was claimed');
    await this.offsets.commit(PIPELINE, { ...held, revision: held.revision + 1, ...change });
  }

  /** What a pipeline would hand out of what was read: the rest was settled before. */
  fresh({ stream, events }: SourceReading): OutboxEvent[] {
    const settled = new AlreadySettled(stream.offset, (a, b) => stream.compare(a, b));
    return events.filter(({ position }) => settled.lookUp(position) === 'new');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    for (const stream of this.#streams) await stream.close();
  }
}

const idsOf = (events: readonly OutboxEvent[]): string[] => events.map(({ id }) => id);

/**
 * The suite that every `Source` passes.
 *
 * @param knowsReaders whether the server keeps the log for its readers, and the driver says what it keeps: `kept`
 */
export function describeSource(
  kind: string,
  knowsReaders: boolean,
  setUp: () => Promise<SourceDriver>,
): void {
  const each = (name: string, run: (driver: SourceDriver, processes: Processes) => Promise<void>): void => {
    it(name, async () => {
      await using driver = await setUp();
      await using processes = new Processes(driver);
      await run(driver, processes);
    });
  };

  /** For servers that know their readers. */
  const eachKept = (
    name: string,
    run: (driver: SourceDriver, processes: Processes, kept: () => Promise<Position>) => Promise<void>,
  ): void => {
    if (!knowsReaders) return;
    it(name, async () => {
      await using driver = await setUp();
      const kept = driver.kept?.bind(driver);
      if (kept === undefined) throw new Error('The driver does not say what the server keeps.');
      await using processes = new Processes(driver);
      await run(driver, processes, kept);
    });
  };

  describe(`${kind} as a source`, () => {
    describe('a first run', () => {
      each('starts now: with what commits after it was opened', async (driver, processes) => {
        await driver.insert('before');
        const reader = await processes.reader();
        const ids = await driver.insert('a', 'b');
        ids.push(...(await driver.insert('c')));
        const events = await reader.untilEvents(3);
        expect(idsOf(events)).toEqual(ids);
        expect(events.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
        for (const { payload, payloadText, payloadFormat, headersText } of events) {
          expect([payloadFormat, headersText]).toEqual(['text', null]);
          expect(payload).toBe(payloadText);
        }
      });

      each('claims the offset before anything is read, and says what it claimed', async (_, processes) => {
        const stream = await processes.open();
        expect(stream.offset).toEqual(processes.saved);
        expect(stream.offset).toMatchObject({ epoch: 1, completed: [] });
        expect(stream.identity).toEqual(stream.offset.identity);
        expect(Object.values(stream.offset.identity).every((value) => typeof value === 'string')).toBe(true);
      });

      each(
        'lets a transaction that was open before it commit later, and delivers it',
        async (driver, processes) => {
          const early = await driver.begin();
          const [first = ''] = await early.insert('early');
          const opening = processes.reader();
          await (driver.openingWaits?.() ?? opening);
          await early.commit();
          const reader = await opening;
          const [second = ''] = await driver.insert('late');
          await reader.until('the second has come', () => reader.ids.includes(second));
          // A log that had to wait for it starts behind it.
          expect(reader.ids).toEqual(driver.openingWaits === undefined ? [first, second] : [second]);
        },
      );

      each(
        'with a snapshot has the rows that are there, and then what commits',
        async (driver, processes) => {
          const ids = await driver.insert('a', 'b');
          ids.push(...(await driver.insert('c')));
          const reader = await processes.reader({ start: 'snapshot' });
          ids.push(...(await driver.insert('d')));
          const events = await reader.untilEvents(4);
          expect(idsOf(events)).toEqual(ids);
          const [last = ''] = reader.positions.slice(-1);
          for (const { position } of events.slice(0, 3))
            expect(reader.stream.compare(position, last)).toBeLessThan(0);
        },
      );
    });

    describe('the order of events', () => {
      each('is that of the commits, not of the ids', async (driver, processes) => {
        const reader = await processes.reader();
        const [one, two] = [await driver.begin(), await driver.begin()];
        const [a = ''] = await one.insert('k');
        const [b = ''] = await two.insert('k');
        const [c = ''] = await one.insert('k');
        await two.commit();
        await one.commit();
        expect(idsOf(await reader.untilEvents(3))).toEqual([b, a, c]);
      });

      each(
        'within a transaction is that of the inserts: ordinals from 1, one id, one time',
        async (driver, processes) => {
          const reader = await processes.reader();
          await driver.insert('a', 'b', 'c');
          await driver.insert('d');
          const events = await reader.untilEvents(4);
          expect(events.map(({ transaction }) => transaction.ordinal)).toEqual([1, 2, 3, 1]);
          const [a, b, c, d] = events.map(({ transaction }) => transaction);
          expect([a?.id, a?.commitTime]).toEqual([b?.id, b?.commitTime]);
          expect(c?.id).toBe(a?.id);
          expect(d?.id).not.toBe(a?.id);
          expect(a?.commitTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
        },
      );

      each('leaves out what was rolled back', async (driver, processes) => {
        const reader = await processes.reader();
        const undone = await driver.begin();
        await undone.insert('undone');
        await undone.rollback();
        const ids = await driver.insert('done');
        await reader.untilEvents(1);
        expect(reader.ids).toEqual(ids);
      });

      each('is that of their positions; each has one of its own', async (driver, processes) => {
        const reader = await processes.reader();
        for (let i = 0; i < 12; i += 1) {
          await driver.insert(...Array.from({ length: 1 + (i % 4) }, () => 'k'));
          if (i % 5 === 0) await driver.commitElsewhere();
        }
        await reader.untilEvents(30);
        const { stream, positions, events } = reader;
        for (const [i, a] of positions.entries()) {
          for (const [j, b] of positions.entries()) {
            // An end may lie where the next transaction begins: equal, but never in front.
            if (i < j) expect(stream.compare(a, b), `${a} ${b}`).toBeLessThanOrEqual(0);
            expect(Math.sign(stream.compare(a, b)) + Math.sign(stream.compare(b, a))).toBe(0);
          }
        }
        const own = events.map(({ position }) => position);
        for (const [i, a] of own.entries())
          for (const b of own.slice(i + 1)) expect(stream.compare(a, b), `${a} ${b}`).toBeLessThan(0);
        expect(stream.compare(stream.offset.watermark, own[0] ?? '')).toBeLessThan(0);
      });

      each('what is passed covers what was handed over, and the idle log too', async (driver, processes) => {
        const reader = await processes.reader();
        await driver.insert('a');
        const [event] = await reader.untilEvents(1);
        const behind = (): Position => reader.passed.at(-1) ?? reader.stream.offset.watermark;
        await reader.until('its transaction is passed', () => {
          return reader.stream.compare(behind(), event?.position ?? '') > 0;
        });
        const before = behind();
        await driver.commitElsewhere();
        await reader.until('the idle log is passed', () => reader.stream.compare(behind(), before) > 0);
        expect(reader.events).toHaveLength(1);
      });
    });

    describe('after a restart', () => {
      each(
        'everything behind the saved watermark comes again, the same: ids, keys and positions',
        async (driver, processes) => {
          const first = await processes.reader();
          await driver.insert('a', 'b');
          await driver.insert('a');
          const before = await first.untilEvents(3);
          await first.stream.close();
          const second = await processes.reader();
          const again = await second.untilEvents(3);
          const told = (events: readonly OutboxEvent[]): unknown =>
            events.map(({ id, key, position, transaction }) => ({ id, key, position, transaction }));
          expect(told(again)).toEqual(told(before));
          expect(second.stream.offset.epoch).toBe(2);
        },
      );

      each('what commits while nobody reads is not missed', async (driver, processes) => {
        const first = await processes.reader();
        await first.stream.close();
        const ids = await driver.insert('a', 'b');
        const second = await processes.reader();
        expect(idsOf(await second.untilEvents(2))).toEqual(ids);
      });

      each(
        'a watermark in the middle of a transaction goes on with the next row of it',
        async (driver, processes) => {
          const first = await processes.reader();
          const ids = await driver.insert('a', 'b', 'c', 'd');
          const events = await first.untilEvents(4);
          await processes.save({ watermark: events[1]?.position ?? '' });
          first.stream.confirm(events[1]?.position ?? '');
          await first.stream.close();
          ids.push(...(await driver.insert('e')));
          const second = await processes.reader();
          await second.until('the last has come', () => second.ids.includes(ids[4] ?? ''));
          expect(idsOf(processes.fresh(second))).toEqual(ids.slice(2));
        },
      );

      each(
        'a watermark at the end of a transaction does not skip the one that follows at once',
        async (driver, processes) => {
          const first = await processes.reader();
          const [one, two] = [await driver.begin(), await driver.begin()];
          await one.insert('a');
          const [second = ''] = await two.insert('b');
          await Promise.all([one.commit(), two.commit()]);
          await first.untilEvents(2);
          const ends = first.batches.find(({ passed }) => passed !== null);
          const [firstEvent] = first.events;
          const watermark = ends?.events.length === 1 ? (ends.passed ?? '') : (firstEvent?.position ?? '');
          await processes.save({ watermark });
          first.stream.confirm(watermark);
          await first.stream.close();
          const again = await processes.reader();
          await again.untilEvents(1);
          const expected = first.ids[1] ?? second;
          await again.until('the other has come', () => again.ids.includes(expected));
          expect(idsOf(processes.fresh(again))).toEqual([expected]);
        },
      );

      each(
        'completed ranges above the watermark are told apart from what is still to do',
        async (driver, processes) => {
          const first = await processes.reader();
          const ids = await driver.insert('slow', 'a', 'b');
          ids.push(...(await driver.insert('a', 'slow', 'b')));
          ids.push(...(await driver.insert('c')));
          const at = (await first.untilEvents(7)).map(({ position }) => position);
          const range = (from: number, to: number) => ({ first: at[from] ?? '', last: at[to] ?? '' });
          await processes.save({ completed: [range(1, 3), range(5, 5)] });
          await first.stream.close();
          const second = await processes.reader();
          await second.untilEvents(7);
          expect(idsOf(processes.fresh(second))).toEqual([ids[0], ids[4], ids[6]]);
        },
      );
    });

    const describeKept = knowsReaders ? describe : (): void => undefined;
    describeKept('confirming', () => {
      eachKept('releases the log up to there, and never takes it back', async (driver, processes, kept) => {
        const reader = await processes.reader();
        await driver.insert('a');
        await driver.insert('b');
        const [a, b] = await reader.untilEvents(2);
        const compare = (x: Position, y: Position): number => reader.stream.compare(x, y);
        const isKept = async (position: Position): Promise<boolean> => compare(await kept(), position) <= 0;
        expect(await isKept(a?.position ?? '')).toBe(true);
        reader.stream.confirm(b?.position ?? '');
        await waitUntil('the first is released', async () => !(await isKept(a?.position ?? '')));
        expect(await isKept(b?.position ?? '')).toBe(true);
        reader.stream.confirm(a?.position ?? '');
        await reader.stream.close();
        expect(await isKept(a?.position ?? '')).toBe(false);
        expect(await isKept(b?.position ?? '')).toBe(true);
      });

      eachKept('is told when the stream is closed right after it', async (driver, processes, kept) => {
        const reader = await processes.reader();
        await driver.insert('a');
        const [a] = await reader.untilEvents(1);
        await reader.until('its end is passed', () => reader.passed.length > 0);
        reader.stream.confirm(reader.passed.at(-1) ?? '');
        await reader.stream.close();
        // The server takes it in when it gets to it, which may be after the session has ended for us.
        await waitUntil(
          'the log is released',
          async () => reader.stream.compare(await kept(), a?.position ?? '') > 0,
        );
      });

      eachKept('nothing is released of what was only read', async (driver, processes, kept) => {
        const reader = await processes.reader();
        await driver.insert('a');
        const [a] = await reader.untilEvents(1);
        await reader.stream.close();
        expect(reader.stream.compare(await kept(), a?.position ?? '')).toBeLessThanOrEqual(0);
      });
    });

    describe('a look at its server', () => {
      each('touches nothing, before the first run and beside an owner', async (driver, processes) => {
        const look = async (): Promise<void> => {
          const { pipeline, signal, log } = processes.request();
          const request = { pipeline, signal, log, offset: processes.saved ?? null, lag: null };
          const findings = (await driver.source().diagnose?.(request)) ?? [];
          for (const finding of findings) expectExplained(finding);
          expect(new Set(findings.map(({ check }) => check)).size).toBe(findings.length);
        };
        await look();
        // A log that a look had claimed, or begun, would have this event.
        await driver.insert('before');
        const reader = await processes.reader();
        expect(reader.stream.offset.epoch).toBe(1);
        const saved = processes.saved;
        await look();
        const ids = await driver.insert('a');
        await reader.untilEvents(1);
        expect(reader.ids).toEqual(ids);
        expect(processes.saved).toEqual(saved);
        expect([reader.stream.lost.aborted, reader.stream.status().reconnects]).toEqual([false, 0]);
      });
    });

    describe('close', () => {
      each('ends a read that waits, and is idempotent', async (_, processes) => {
        const reader = await processes.reader();
        await Promise.all([reader.stream.close(), reader.stream.close()]);
        await reader.over;
        await reader.stream.close();
        expect(reader.stream.status().state).toBe('closed');
      });

      each('works on a stream that was never read', async (_, processes) => {
        const stream = await processes.open();
        await stream.close();
        for await (const batch of stream.read()) expect.fail(`a batch came: ${JSON.stringify(batch)}`);
      });

      each('lets the next owner in at once', async (driver, processes) => {
        const first = await processes.reader();
        await first.stream.close();
        const told: string[] = [];
        const second = await processes.open(undefined, { standby: (owner) => told.push(owner) });
        expect(told).toEqual([]);
        expect(second.offset.epoch).toBe(2);
        await driver.insert('a');
        await new Reading(second).untilEvents(1);
      });

      each('while the connection is being made anew ends that', async (driver, processes) => {
        const reader = await processes.reader();
        // It takes only some tens of milliseconds: watch from before.
        const noticed = waitUntil('it reconnects', () => reader.stream.status().state === 'reconnecting', {
          everyMs: 2,
        });
        await driver.cutConnections();
        await noticed;
        await reader.stream.close();
        await reader.over;
      });
    });

    describe('a connection that breaks', () => {
      each('is made anew, and each event comes once, in order', async (driver, processes) => {
        const reader = await processes.reader();
        const ids = await driver.insert('a', 'b');
        await reader.untilEvents(2);
        for (let round = 1; round <= 2; round += 1) {
          await driver.cutConnections();
          ids.push(...(await driver.insert('a', 'c')));
          await reader.until('it has reconnected', () => reader.stream.status().reconnects === round);
          ids.push(...(await driver.insert('d')));
          await reader.untilEvents(ids.length);
        }
        expect(reader.ids).toEqual(ids);
        expect(reader.stream.status().state).toBe('streaming');
      });

      each('in the middle of a transaction goes on in the middle', async (driver, processes) => {
        // More than the source and the buffers of the network hold: the rest must come over another connection.
        const rows = 24_000;
        const stream = await processes.open();
        await driver.insertMany(rows, 1_000);
        const ordinals: number[] = [];
        for await (const { events } of stream.read()) {
          if (ordinals.length === 0 && events.length > 0) await driver.cutConnections();
          ordinals.push(...events.map(({ transaction }) => transaction.ordinal));
          if (ordinals.length >= rows) break;
        }
        expect(ordinals).toEqual(Array.from({ length: rows }, (_, i) => i + 1));
        expect(stream.status().reconnects).toBe(1);
      });

      eachKept('does not forget what is confirmed while it is made anew', async (driver, processes, kept) => {
        const reader = await processes.reader();
        for (let i = 0; i < 80; i += 1) await driver.insert('a');
        const positions = (await reader.untilEvents(80)).map(({ position }) => position);
        // One after the other, as long as it takes; and none any more on the new connection.
        const confirmed: Position[] = [];
        const confirming = setInterval(() => {
          const next = positions.shift();
          if (next === undefined || reader.stream.status().reconnects > 0) return;
          confirmed.push(next);
          reader.stream.confirm(next);
        }, 4);
        await driver.cutConnections();
        await reader.until('it has reconnected', () => reader.stream.status().reconnects === 1);
        clearInterval(confirming);
        // The last one itself is not released, what lies before it is.
        const [beforeLast = ''] = confirmed.slice(-2);
        await waitUntil('it is released', async () => reader.stream.compare(await kept(), beforeLast) > 0);
      });
    });

    describe('a reader that is slow', () => {
      each('pauses the log, visibly, and gets everything in the end', async (driver, processes) => {
        const stream = await processes.open();
        const read = stream.read()[Symbol.asyncIterator]();
        const events: OutboxEvent[] = [];
        const next = async (): Promise<void> => {
          const result = await read.next();
          if (result.done === true) expect.fail('reading ended');
          events.push(...result.value.events);
        };
        const first = next();
        for (let i = 0; i < 4; i += 1) await driver.insertMany(5_000);
        await first;
        await waitUntil('the log is paused', () => stream.status().state === 'paused');
        while (events.length < 20_000) await next();
        expect(new Set(idsOf(events)).size).toBe(20_000);
        const last = next().catch(() => undefined); // it waits for more, and stream.close() ends it
        await waitUntil('it streams again', () => stream.status().state === 'streaming');
        await stream.close();
        await last;
      });
    });

    describe('ownership', () => {
      each('is not lost by what heals, nor by the end of the stream', async (driver, processes) => {
        const reader = await processes.reader();
        await driver.cutConnections();
        await reader.until('it has reconnected', () => reader.stream.status().reconnects === 1);
        await driver.insert('a');
        await reader.untilEvents(1);
        await reader.stream.close();
        expect(reader.stream.lost.aborted).toBe(false);
      });

      each('is in doubt, if it ever is, only until it is sure again', async (driver, processes) => {
        const stream = await processes.open();
        const told: boolean[] = [];
        stream.onDoubt?.((inDoubt) => told.push(inDoubt));
        const reader = new Reading(stream);
        await driver.insert('a');
        await reader.untilEvents(1);
        expect(told).toEqual([]);
        await driver.cutConnections();
        await reader.until('it has reconnected', () => stream.status().reconnects === 1);
        await driver.insert('b');
        await reader.untilEvents(2);
        expect(told).toEqual(told.map((_, index) => index % 2 === 0));
        expect(told.length % 2).toBe(0);
        // Where its connection is what holds the log, the loss of that is a doubt.
        if (stream.onDoubt !== undefined) expect(told.length).toBeGreaterThan(0);
      });

      each(
        'a second process stands by, is told once who owns the log, and takes over',
        async (driver, processes) => {
          const owner = await processes.reader();
          const ids = await driver.insert('a');
          await owner.untilEvents(1);
          await processes.save({ watermark: owner.events[0]?.position ?? '' });
          const told: string[] = [];
          let opened = false;
          const opening = processes.open(undefined, { standby: (name) => told.push(name) }).then((stream) => {
            opened = true;
            return new Reading(stream);
          });
          await waitUntil('the second is told', () => told.length > 0);
          ids.push(...(await driver.insert('b')));
          await owner.untilEvents(2);
          // For longer than there is between two looks at the owner.
          await watchFor(700, 'it is told once', () => told.length === 1);
          expect(opened).toBe(false);
          expect(processes.saved?.epoch).toBe(1);
          await owner.stream.close();
          const successor = await opening;
          await successor.until('the rest has come', () => successor.ids.includes(ids[1] ?? ''));
          expect(idsOf(processes.fresh(successor))).toEqual(ids.slice(1));
          expect(successor.stream.offset.epoch).toBe(2);
          expect(told).toHaveLength(1);
        },
      );

      each('a standby that is stopped gives up, and leaves the owner alone', async (driver, processes) => {
        const owner = await processes.reader();
        const stop = new AbortController();
        const told: string[] = [];
        const opening = processes.open(undefined, {
          standby: (name) => told.push(name),
          signal: stop.signal,
        });
        await waitUntil('it stands by', () => told.length > 0);
        stop.abort();
        await expect(opening).rejects.toThrow();
        await driver.insert('a');
        await owner.untilEvents(1);
        expect(processes.saved?.epoch).toBe(1);
      });

      each(
        'of many that start at once one owns, and each event comes once to one after the other',
        async (driver, processes) => {
          const standbys = new Set<number>();
          const waiting = new Map(
            [1, 2, 3].map((n) => {
              const opening = processes.open(undefined, { standby: () => standbys.add(n) });
              return [n, opening.then((stream) => ({ n, stream }))];
            }),
          );
          const epochs: number[] = [];
          while (waiting.size > 0) {
            const { n, stream } = await Promise.race(waiting.values());
            waiting.delete(n);
            const others = [...waiting.keys()];
            await waitUntil('the others stand by', () => others.every((other) => standbys.has(other)));
            const reader = new Reading(stream);
            const ids = await driver.insert('a', 'b');
            await reader.until('both have come', () => ids.every((id) => reader.ids.includes(id)));
            expect(idsOf(processes.fresh(reader))).toEqual(ids);
            await processes.save({ watermark: reader.events.at(-1)?.position ?? '' });
            epochs.push(stream.offset.epoch);
            await stream.close();
          }
          expect(epochs).toEqual([...epochs].sort((a, b) => a - b));
          expect(new Set(epochs).size).toBe(3);
        },
      );
    });
  });
}
