import { describe, expect, it } from 'vitest';
import { describeClaims } from './dead-letter-claims.js';
import { describeContents } from './dead-letter-contents.js';
import { describeDesk } from './dead-letter-desk.js';
import { eachOf, type SetUp } from './dead-letter-fixtures.js';
import { describeParking } from './dead-letter-parking.js';
import { describeReleasing } from './dead-letter-releasing.js';

export type { DeadLetterBackend } from './dead-letter-fixtures.js';

/** The suite that every `DeadLetterStore` passes, with its `DeadLetterDesk`. */
export function describeDeadLetterStore(kind: string, setUp: SetUp): void {
  describe(`${kind} as a dead-letter store`, () => {
    const each = eachOf(setUp);
    describeClaims(each);
    describeParking(each);
    describeReleasing(each);
    describeContents(each);
    describeDesk(each);

    it('closes before it was ever used, and twice', async () => {
      await using backend = await setUp();
      const store = backend.open();
      const desk = backend.desk();
      await Promise.all([store.close(), store.close(), desk.close()]);
      await desk.close();
      expect(store.name).toMatch(/^[^\s@]+$/);
    });
  });
}
