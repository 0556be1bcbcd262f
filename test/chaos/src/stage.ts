import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  FileHistory,
  PipelineProcess,
  waitUntil,
  type CommittedLog,
  type PipelineProcessOptions,
  type SourceChoice,
} from '@strandline/test-kit';
import { Crew } from './crew.js';
import type { ChaosDatabase } from './databases/chaos-database.js';
import { startDatabase } from './databases/start.js';
import { PIPELINE } from './names.js';
import { FilePlace } from './offsets/file-place.js';
import type { OffsetsPlace } from './offsets/offsets-place.js';
import { OffsetsWatch } from './offsets/offsets-watch.js';
import { RedisPlace } from './offsets/redis-place.js';
import { Operator } from './operator.js';
import { SeatNetwork } from './seat-network.js';
import type { Setup } from './setup.js';
import type { Timeline } from './timeline.js';
import type { World } from './world.js';

/** So short that a run of a minute sees them pass. */
const PATIENCE = { connectTimeout: 2_000, silenceTimeout: 3_000, reconnect: { maxDelay: 500 } };

interface Parts {
  readonly setup: Setup;
  readonly timeline: Timeline;
  readonly database: ChaosDatabase;
  readonly place: OffsetsPlace;
  readonly networks: readonly SeatNetwork[];
  readonly directory: string;
  readonly committed: CommittedLog;
}

/** The servers of a run, the networks before them, and the processes of the pipeline. */
export class Stage implements World, AsyncDisposable {
  readonly #parts: Parts;
  readonly history: FileHistory;
  readonly operator: Operator;
  readonly watch: OffsetsWatch;
  readonly crew: Crew;

  /** The pipeline has its offset when it resolves, and its crew is on its way up. */
  static async open(setup: Setup, timeline: Timeline): Promise<Stage> {
    const opened: AsyncDisposable[] = [];
    const keep = <T extends AsyncDisposable>(one: T): T => {
      opened.unshift(one);
      return one;
    };
    try {
      const database = keep(await startDatabase(setup.database));
      const place = keep(setup.offsets === 'redis' ? await RedisPlace.start() : await FilePlace.make());
      const networks: SeatNetwork[] = [];
      while (networks.length < setup.seats)
        networks.push(keep(await SeatNetwork.open(database.url, place.url)));
      const committed = await database.outbox.committedLog();
      const directory = await mkdtemp(path.join(tmpdir(), 'strandline-chaos-'));
      keep({ [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) });
      const parts = { setup, timeline, database, place, networks, directory, committed };
      await found(parts);
      return new Stage(parts, opened);
    } catch (error) {
      for (const one of opened) await one[Symbol.asyncDispose]();
      throw error;
    }
  }

  readonly #opened: readonly AsyncDisposable[];

  private constructor(parts: Parts, opened: readonly AsyncDisposable[]) {
    const { setup, timeline, database, place } = parts;
    this.#parts = parts;
    this.#opened = opened;
    this.history = new FileHistory(historyFile(parts));
    this.operator = new Operator(database, setup.letters, timeline);
    this.watch = new OffsetsWatch(place, database.outbox, timeline);
    this.crew = new Crew({
      history: this.history,
      timeline,
      seats: setup.seats,
      options: (seat, life) => optionsOf(parts, seat, life + FOUNDERS, this.operator.broken),
      offsetLost: () => this.operator.putOffsetBack(this.redis, this.watch),
    });
  }

  get setup(): Setup {
    return this.#parts.setup;
  }

  get database(): ChaosDatabase {
    return this.#parts.database;
  }

  get networks(): readonly SeatNetwork[] {
    return this.#parts.networks;
  }

  get redis(): RedisPlace | null {
    return this.#parts.place instanceof RedisPlace ? this.#parts.place : null;
  }

  get committed(): CommittedLog {
    return this.#parts.committed;
  }

  readonly readCommitted: World['readCommitted'] = () => this.committed.rows();

  async [Symbol.asyncDispose](): Promise<void> {
    await this.crew[Symbol.asyncDispose]();
    await this.watch.stop();
    await this.operator.close();
    this.history[Symbol.dispose]();
    for (const one of this.#opened) await one[Symbol.asyncDispose]();
  }
}

/** Lives before those of the crew. */
const FOUNDERS = 1;

/**
 * The first start, with which a pipeline gets its offset. What says where that is (`start`) is taken out of its options
 * afterwards, as README.md asks.
 */
async function found(parts: Parts): Promise<void> {
  await using founder = new PipelineProcess({
    ...optionsOf(parts, 0, FOUNDERS, []),
    source: parts.database.outbox.sourceChoice(PATIENCE),
  });
  await founder.started;
  await waitUntil('the pipeline has its first offset', () => parts.place.look());
  const exit = await founder.stop();
  if (exit.code !== 0) throw new Error(`The first start failed: ${JSON.stringify(exit)}\n${founder.log}`);
}

function optionsOf(
  { setup, database, place, networks, ...parts }: Parts,
  seat: number,
  run: number,
  broken: readonly string[],
): PipelineProcessOptions {
  const network = networks[seat];
  if (network === undefined) throw new RangeError(`there is no seat ${String(seat)}`);
  const { url } = network.database;
  return {
    name: PIPELINE,
    source: withoutStart(database.outbox.sourceChoice({ url, ...PATIENCE })),
    offsets: place.choice(network),
    tuning: { retry: { initialDelay: 20, maxDelay: 300 }, parking: { poll: 200 } },
    behaviour: { ...setup.behaviour, broken },
    ...(setup.letters ? { letters: database.lettersAt(url) } : {}),
    history: historyFile(parts),
    run,
    terms: true,
  };
}

function withoutStart(choice: SourceChoice): SourceChoice {
  if (!('mysql' in choice)) return choice;
  const mysql = { ...choice.mysql };
  delete mysql.start;
  return { mysql };
}

function historyFile({ directory }: Pick<Parts, 'directory'>): string {
  return path.join(directory, 'history.jsonl');
}
