// A run that starts servers, says where they are, and waits to be killed. Plain JavaScript on the built package: the
// test kills this very process, so nothing may stand between.
import { startMariadb, startMysql, startPostgres, startRedis } from '../dist/index.js';

const starts = [startPostgres, startRedis, startMysql, startMariadb];
const servers = await Promise.all(starts.map((start) => start({ origin: 'local' })));
const held = servers.map(({ port, dataDirectory }) => ({ port, dataDirectory }));
process.stdout.write(`${JSON.stringify(held)}\n`);
if (process.argv[2] === 'hold') setInterval(() => undefined, 1_000);
