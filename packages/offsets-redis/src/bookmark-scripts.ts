import { script } from './scripts.js';

/** Arguments: name, the bookmark's text. */
export const createBookmarkScript = script(`
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 1 then return {'created'} end
return {'exists'}
`);

/** Arguments: name. */
export const deleteBookmarkScript = script(`
if redis.call('HDEL', KEYS[1], ARGV[1]) == 1 then return {'deleted'} end
return {'missing'}
`);
