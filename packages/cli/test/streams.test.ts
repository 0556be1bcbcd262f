import { expect, test } from 'vitest';
import { tell, type Output } from '../src/streams.js';

function failing(code: string): Output {
  return {
    write(_text, done) {
      done?.(Object.assign(new Error(code), { code }));
    },
  };
}

test('a reader that has gone ends nothing, and what else fails does', async () => {
  await expect(tell(failing('EPIPE'), 'text')).resolves.toBeUndefined();
  await expect(tell(failing('ENOSPC'), 'text')).rejects.toMatchObject({ code: 'ENOSPC' });
});
