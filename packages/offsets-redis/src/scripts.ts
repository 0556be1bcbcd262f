import { createHash } from 'node:crypto';

/** A Lua script; Redis knows it by its hash once it has run. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}

/** What `format` is in the hashes that this version writes and reads. */
export const format = '1';

/** The hash's fields that make an offset, in the order in which `claimScript` returns them. */
export const fields = [
  'format',
  'identity',
  'watermark',
  'completed',
  'epoch',
  'revision',
  'savedAt',
] as const;

/**
 * What the scripts of an offset check first. Counters are compared as numbers, which Lua holds exactly up to 2^53, and only
 * when they are plain decimals: Lua would read "0x10", " 7" and "1e3" as numbers too. A script returns an
 * array whose first element is the outcome, so that a failure is told apart without reading error texts.
 */
const checks = `
local key = KEYS[1]
local function counter(text)
  if not text or not string.find(text, '^%d+$') or #text > 16 then return nil end
  local number = tonumber(text)
  if number > 9007199254740991 then return nil end
  return number
end
local kind = redis.call('TYPE', key)['ok']
local missing = kind == 'none'
if not missing and kind ~= 'hash' then return {'wrong-type', kind} end
local epoch, revision, vacant = 0, 0, ''
if not missing then
  local held = redis.call('HMGET', key, 'format', 'epoch', 'revision', 'vacant')
  if held[1] ~= '${format}' then return {'wrong-format', held[1] or ''} end
  epoch, revision = counter(held[2]), counter(held[3])
  if not epoch then return {'wrong-field', 'epoch', held[2] or ''} end
  if not revision then return {'wrong-field', 'revision', held[3] or ''} end
  vacant = held[4] or ''
end
-- There is no offset, whatever else is remembered.
local none = missing or vacant == 'reset'
`;

/**
 * Arguments: identity, seed watermark, time, claimant, attempt. Each write is one HSET, so that it happens as a
 * whole or not at all, wherever the server stops.
 *
 * A claim that timed out can still arrive, even after a later claim of the same store has come through on a new
 * connection. It would raise the epoch again and fence its own process. So the hash remembers who claimed last
 * and in which attempt, and an older attempt of the same claimant changes nothing.
 */
export const claimScript = script(`${checks}
local last = redis.call('HMGET', key, 'claimant', 'attempt')
if last[1] ~= ARGV[4] or (counter(last[2]) or 0) < tonumber(ARGV[5]) then
  local mine = string.format('%.0f', epoch + 1)
  if none then
    redis.call('HSET', key, 'format', '${format}', 'identity', ARGV[1], 'watermark', ARGV[2], 'completed', '[]',
      'epoch', mine, 'revision', '0', 'savedAt', ARGV[3], 'claimant', ARGV[4], 'attempt', ARGV[5], 'vacant', '')
  else
    redis.call('HSET', key, 'identity', ARGV[1], 'epoch', mine,
      'claimant', ARGV[4], 'attempt', ARGV[5], 'vacant', '')
  end
end
return {'claimed', unpack(redis.call('HMGET', key, ${fields.map((name) => `'${name}'`).join(', ')}))}
`);

/**
 * Arguments: identity, watermark, completed, epoch, revision, time. Returns a `CommitResult`.
 *
 * While an offset is vacant, whoever commits has not claimed it since somebody replaced it. That holds also for an
 * epoch that is higher than ours, which a failover of Redis can have lost; then no later claim may get that one again.
 */
export const commitScript = script(`${checks}
local mine = tonumber(ARGV[4])
if vacant ~= '' then
  if mine > epoch then redis.call('HSET', key, 'epoch', ARGV[4]) end
  return {'fenced'}
end
if epoch > mine then return {'fenced'} end
local lost = missing or epoch < mine
if not lost and revision >= tonumber(ARGV[5]) then return {'stale'} end
redis.call('HSET', key, 'format', '${format}', 'identity', ARGV[1], 'watermark', ARGV[2], 'completed', ARGV[3],
  'epoch', ARGV[4], 'revision', ARGV[5], 'savedAt', ARGV[6])
if lost then return {'restored'} end
return {'saved'}
`);

/**
 * Arguments: epoch, revision, watermark and time of the offset that was read, all empty when there was none; then
 * what it becomes (`set` or `reset`), identity, watermark, completed, time; then what is replaced, as a text.
 *
 * An offset that is `reset` stays as a hash with its epoch, so that it goes on growing.
 */
export const replaceScript = script(`${checks}
if none ~= (ARGV[1] == '') then return {'changed'} end
if not none then
  local held = redis.call('HMGET', key, 'watermark', 'savedAt')
  if epoch ~= tonumber(ARGV[1]) or revision ~= tonumber(ARGV[2]) or held[1] ~= ARGV[3] or held[2] ~= ARGV[4] then
    return {'changed'}
  end
end
redis.call('HSET', key, 'format', '${format}', 'vacant', ARGV[5], 'identity', ARGV[6], 'watermark', ARGV[7],
  'completed', ARGV[8], 'epoch', string.format('%.0f', epoch + 1), 'revision', '0', 'savedAt', ARGV[9],
  'replaced', ARGV[10])
return {'replaced'}
`);

export function script(lua: string): Script {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}
