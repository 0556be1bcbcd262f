import pg from 'pg';

export function openPool(url: string, name: string, connections: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: connections, application_name: name });
  // A server that goes away says so by an event on the idle clients, which would end the process. The next query
  // fails with the same reason, where it can be handled.
  pool.on('error', () => undefined);
  return pool;
}
