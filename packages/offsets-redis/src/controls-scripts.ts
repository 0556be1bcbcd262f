import { format, script } from './scripts.js';

const held = `
local key = KEYS[1]
local kind = redis.call('TYPE', key)['ok']
if kind ~= 'none' and kind ~= 'hash' then return {'wrong-type', kind} end
local held = redis.call('HMGET', key, 'format', 'revision', 'controls')
local revision = '0'
if kind ~= 'none' then
  if held[1] ~= '${format}' then return {'wrong-format', held[1] or ''} end
  if not held[2] or not string.find(held[2], '^[1-9]%d*$') or #held[2] > 15 then
    return {'wrong-field', 'revision', held[2] or ''}
  end
  revision = held[2]
end
`;

/** Arguments: the revision that is known, or nothing. */
export const controlsScript = script(`${held}
if revision == ARGV[1] then return {'same'} end
return {'found', revision, held[3] or ''}
`);

/** Arguments: the revision that was read, the next one, the controls as a text. */
export const changeControlsScript = script(`${held}
if revision ~= ARGV[1] then return {'changed'} end
redis.call('HSET', key, 'format', '${format}', 'revision', ARGV[2], 'controls', ARGV[3])
return {'done'}
`);
