export { testDatabase, type TestDatabase } from './postgres-fixture.js';
export { testRedis, type TestRedis } from './redis-fixture.js';
export { startTestServers, type TestServers } from './servers.js';
export { uniqueName } from './unique-name.js';
export { waitUntil, type WaitOptions } from './wait-until.js';
