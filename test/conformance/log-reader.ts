import { describe, it } from 'vitest';
import { Beside, type EachBeside, type LogReaderDriver } from './log-reader-beside.js';
import { describeReach } from './log-reader-reach.js';
import { describeReading } from './log-reader-reading.js';
import { describeStarts } from './log-reader-starts.js';

/** The suite that the readers of every `Source` pass, and what it says of its log. */
export function describeLogReader(kind: string, setUp: () => Promise<LogReaderDriver>): void {
  const each: EachBeside = (name, run) => {
    it(name, async () => {
      await using driver = await setUp();
      await using beside = await Beside.start(driver);
      await run(beside, driver);
    });
  };

  describe(`${kind}: a reader beside the owner`, () => {
    describeStarts(each);
    describeReading(each);
    describeReach(each);
  });
}
