import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startPostgres } from '@strandline/servers';
import { deadLetters, definePipeline, fileOffsets, postgres } from 'strandline';
import { startAdmin } from 'strandline/admin';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PATIENCE, Troubles } from '../../packages/demo/dist/troubles.js';

const ORDERS = 400;
const TYPES = ['OrderPlaced', 'OrderPaid', 'OrderPacked', 'OrderShipped'];
/** Milliseconds between two transactions, and rows of one. */
const EVERY = 100;
const ROWS = 6;
const quiet = () => undefined;
const SILENT = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => SILENT };

/** A shop whose orders are in the troubles of the demo. */
export async function openShop() {
  const directory = await mkdtemp(path.join(tmpdir(), 'strandline-screenshots-'));
  const server = await startPostgres({ origin: 'local' });
  const url = await server.createDatabase('shop');
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => undefined);
  await pool.query(
    `CREATE TABLE outbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, order_id bigint NOT NULL,
       type text NOT NULL, payload jsonb NOT NULL)`,
  );
  const pipeline = pipelineOn(url, directory);
  const admin = await startAdmin({ pipelines: [pipeline], address: '0', log: SILENT, token: '' });
  await pipeline.start();
  const closing = new AbortController();
  let traffic = Promise.resolve();
  return {
    url: admin.url,
    async run(until) {
      traffic = run({ pool, url: admin.url, until, closed: closing.signal });
      await Promise.race([traffic, delay(until - Date.now())]);
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await traffic;
      await admin.stop();
      await pipeline.stop();
      await pool.end();
      await server[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function pipelineOn(url, directory) {
  const troubles = new Troubles();
  return definePipeline({
    name: 'order-mails',
    source: postgres({
      url,
      outbox: { table: 'outbox', id: 'id', key: 'order_id', type: 'type', payload: 'payload' },
      retention: { age: 3_600_000 },
    }),
    offsets: fileOffsets({ directory }),
    deadLetters: deadLetters({ postgres: { url } }),
    handlerTimeout: PATIENCE,
    retry: { attempts: 100, maxDelay: 30_000 },
    log: SILENT,
    async handle({ key, id }, { attempt, signal, replay }) {
      await delay(3 + ((Number(id) * 7) % 29));
      if (!replay) await troubles.meet(key, attempt, signal);
    },
  });
}

/** Orders move on in turn, faster and slower by the minute; meanwhile an operator does what operators do. */
async function run({ pool, url, until, closed }) {
  const post = poster(url);
  let moves = 0;
  const move = async () => {
    const rows = Math.round(ROWS * (1.3 + Math.sin(moves / (ROWS * 90))));
    const numbers = Array.from({ length: rows }, (_, at) => moves + at);
    moves += rows;
    await pool.query(
      'INSERT INTO outbox (order_id, type, payload) SELECT * FROM unnest($1::bigint[], $2::text[], $3::jsonb[])',
      [numbers.map(orderOf), numbers.map(typeOf), numbers.map(payloadOf)],
    );
  };
  await move();
  await post('bookmarks', { name: 'before-deploy' });
  const replayAt = until - 45_000;
  let replayed = false;
  while (!closed.aborted) {
    await move();
    if (!replayed && Date.now() > replayAt) {
      replayed = true;
      await post('bookmarks', { name: 'after-deploy' });
      await post('replays', { from: { bookmark: 'before-deploy' }, by: 'ada' });
      await post('keys/hold', { key: '203', by: 'ada', note: 'asked the customer for an address' });
    }
    await delay(EVERY);
  }
}

function poster(url) {
  return async (route, body) => {
    const answer = await fetch(`${url}/api/v1/pipelines/order-mails/${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
  };
}

const orderOf = (move) => String(((move * 37) % ORDERS) + 1);
const typeOf = (move) => TYPES[Math.floor(move / ORDERS) % TYPES.length];
const payloadOf = (move) =>
  JSON.stringify({
    order: orderOf(move),
    type: typeOf(move),
    items: (move % 5) + 1,
    total: `${String((move % 90) + 9)}.90 EUR`,
  });
