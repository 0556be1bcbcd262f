import type { RedisClient } from './client.js';
import type { Script } from './scripts.js';

/** What a script returned, and how many replicas had it when `WAIT` was over. */
export interface ScriptReply {
  readonly values: readonly (string | null)[];
  readonly replicas: number;
}

export interface ScriptCall {
  readonly script: Script;
  readonly key: string;
  readonly values: readonly string[];
  readonly replicas: { readonly count: number; readonly timeout: number } | undefined;
}

/**
 * Runs a script by its hash, and with its text where the server does not know it: at the first use, and after
 * a restart, a failover or SCRIPT FLUSH. With `signal` aborted nothing more is sent.
 */
export async function runScript(
  client: RedisClient,
  call: ScriptCall,
  signal: AbortSignal,
): Promise<ScriptReply> {
  try {
    return await send(client, call, 'evalsha', call.script.sha);
  } catch (error) {
    if (!(error instanceof Error && /\bNOSCRIPT\b/.test(error.message)) || signal.aborted) throw error;
    return send(client, call, 'eval', call.script.lua);
  }
}

async function send(
  client: RedisClient,
  { key, values, replicas }: ScriptCall,
  command: 'evalsha' | 'eval',
  script: string,
): Promise<ScriptReply> {
  if (replicas === undefined)
    return { values: reply(await client[command](script, 1, key, ...values)), replicas: 0 };
  // In one write on one connection: WAIT looks at what was written on its own connection, and on a fresh one,
  // where that is nothing, it reports every replica as up to date.
  const results = await client
    .pipeline([
      [command, script, 1, key, ...values],
      ['wait', replicas.count, replicas.timeout],
    ])
    .exec();
  const [ran, waited] = results ?? [];
  if (ran?.[0]) throw ran[0];
  if (waited?.[0]) throw waited[0];
  return { values: reply(ran?.[1]), replicas: Number(waited?.[1] ?? 0) };
}

function reply(value: unknown): (string | null)[] {
  return Array.isArray(value) ? value.map((item) => (item === null ? null : String(item))) : [String(value)];
}
