import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { PUBLICATION } from '../../databases/postgres/outbox.js';
import { dropSlot } from '../../databases/postgres/slots.js';
import type { Peer, PeerPlace, PeerProcess, PeerTask } from '../peer.js';
import { passwordOf, serverArguments, taskArguments } from './arguments.js';
import { FLUSH_EVERY } from './flush-every.js';
import { build, debeziumVersion, javaVersion } from './java-project.js';
import { JavaProcess } from './java-process.js';
import { readSightings } from './sightings.js';

/** How many times as fast Strandline has to be. */
const GOAL = 3;

/** Debezium's engine with its outbox event router, in a JVM of its own that keeps its offset in a file. */
export function debezium(): Peer {
  return new Debezium();
}

class Debezium implements Peer {
  readonly name = `Debezium engine, outbox event router, offset saved every ${String(FLUSH_EVERY / 1_000)} s`;
  readonly goal = GOAL;
  /** Of the place where it is installed: what its processes leave to each other, and to us. */
  #folder = '';
  #readings = 0;

  obtain(progress: (text: string) => void): Promise<string | null> {
    return build(progress);
  }

  async version(): Promise<string> {
    return `${await debeziumVersion()} on Java ${(await javaVersion()) ?? ''}`;
  }

  /** A slot of its own, for when it lives on after a kill. */
  async install(place: PeerPlace): Promise<void> {
    const own = ownNames(place);
    this.#folder = await mkdtemp(path.join(os.tmpdir(), 'strandline-bench-debezium-'));
    await withSql(place, async (sql) => {
      await sql.query(`create publication ${own.publication} for table outbox with (publish = 'insert')`);
      await sql.query("select pg_create_logical_replication_slot($1, 'pgoutput')", [own.slot]);
    });
  }

  /** A slot that was never read has the whole outbox in front of it. */
  load(): Promise<void> {
    return Promise.resolve();
  }

  async uninstall(place: PeerPlace): Promise<void> {
    const own = ownNames(place);
    await withSql(place, async (sql) => {
      await dropSlot(sql, own.slot);
      await sql.query(`drop publication ${own.publication}`);
    });
    await rm(this.#folder, { recursive: true });
  }

  start(place: PeerPlace, task: PeerTask): PeerProcess {
    const names = place.slot === null ? ownNames(place) : { slot: place.slot, publication: PUBLICATION };
    this.#readings += 1;
    const file =
      task.kind === 'history' ? task.file : path.join(this.#folder, `reading-${String(this.#readings)}`);
    const java = new JavaProcess(
      {
        ...serverArguments('postgres', place.url),
        ...names,
        ...taskArguments(task),
        file,
        // An offset belongs to its slot.
        offsets: path.join(this.#folder, `offsets-${names.slot}`),
        flush: String(FLUSH_EVERY),
      },
      passwordOf(place.url),
    );
    const reading =
      task.kind === 'speed'
        ? java.ended.then(() => readSightings(file, task))
        : java.ended.then(() => Promise.reject(new Error('Debezium was not asked for a reading.')));
    reading.catch(() => undefined); // not everybody wants it
    return { ready: java.ready, reading, stop: () => java.stop(), kill: () => java.kill() };
  }
}

interface OwnNames {
  readonly slot: string;
  readonly publication: string;
}

function ownNames({ name }: PeerPlace): OwnNames {
  return { slot: `${name}_slot`, publication: `${name}_publication` };
}

async function withSql({ url }: PeerPlace, work: (sql: pg.Client) => Promise<void>): Promise<void> {
  const sql = new pg.Client({ connectionString: url });
  await sql.connect();
  try {
    await work(sql);
  } finally {
    await sql.end();
  }
}
