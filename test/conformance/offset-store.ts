import { describe } from 'vitest';
import { describeBookmarks } from './offset-store-bookmarks.js';
import { describeClaims } from './offset-store-claims.js';
import { describeCommits } from './offset-store-commits.js';
import { describeContents } from './offset-store-contents.js';
import { describeControls } from './offset-store-controls.js';
import { describeInstances } from './offset-store-instances.js';
import { describeLimits } from './offset-store-limits.js';
import { describeReplacing } from './offset-store-replacing.js';
import { eachOf, type SetUp } from './offset-store-fixtures.js';

export type { OffsetStoreBackend } from './offset-store-fixtures.js';

/** The suite that every `OffsetStore` passes. */
export function describeOffsetStore(kind: string, setUp: SetUp): void {
  describe(`${kind} as an offset store`, () => {
    const each = eachOf(setUp);
    describeClaims(each);
    describeCommits(each);
    describeContents(each);
    describeReplacing(each);
    describeBookmarks(each);
    describeInstances(each);
    describeControls(each);
    describeLimits(each, setUp);
  });
}
