// A run that starts servers, says where they are, and waits to be killed. Plain JavaScript on the built package: the
// test kills this very process, so nothing may stand between.
import { startPostgres, startRedis } from '../dist/index.js';

const [postgres, redis] = await Promise.all([
  startPostgres({ origin: 'local' }),
  startRedis({ origin: 'local' }),
]);
const { port, dataDirectory } = postgres;
const held = [
  { port, dataDirectory },
  { port: redis.port, dataDirectory: redis.dataDirectory },
];
process.stdout.write(`${JSON.stringify(held)}\n`);
if (process.argv[2] === 'hold') setInterval(() => undefined, 1_000);
