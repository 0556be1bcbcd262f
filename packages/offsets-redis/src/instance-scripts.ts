import { script } from './scripts.js';

/** A field is the time until which it holds, in milliseconds by the clock of Redis, a blank, and the report. */
const clock = `
local key = KEYS[1]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function holdsUntil(value)
  return tonumber(string.match(value, '^(%d+) ') or '')
end
`;

/**
 * Arguments: id, the report's text, milliseconds. Clears away what is over, and what can't be read: whoever wrote it
 * says it again soon, if it is still there.
 */
export const reportScript = script(`${clock}
local mine = now + tonumber(ARGV[3])
local last = mine
local held = redis.call('HGETALL', key)
for i = 1, #held, 2 do
  local over = holdsUntil(held[i + 1])
  if not over or over <= now then
    redis.call('HDEL', key, held[i])
  elseif over > last then
    last = over
  end
end
redis.call('HSET', key, ARGV[1], string.format('%.0f ', mine) .. ARGV[2])
redis.call('PEXPIREAT', key, string.format('%.0f', last))
return {'reported'}
`);

/** Arguments: id. */
export const leaveScript = script(`
redis.call('HDEL', KEYS[1], ARGV[1])
return {'left'}
`);

export const listInstancesScript = script(`${clock}
local found = {'listed'}
local held = redis.call('HGETALL', key)
for i = 1, #held, 2 do
  local over = holdsUntil(held[i + 1])
  if not over then return {'wrong-field', held[i], held[i + 1]} end
  if over > now then found[#found + 1] = string.match(held[i + 1], '^%d+ (.*)$') end
end
return found
`);
