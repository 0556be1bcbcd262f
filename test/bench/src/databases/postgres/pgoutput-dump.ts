import type { ReadingRecord } from '../../readers/reading-record.js';
import { ordinalOf } from '../payload.js';

// Message types of pgoutput, and the lengths of those that have a fixed one.
const BEGIN = 0x42; // B
const BEGIN_LENGTH = 1 + 8 + 8 + 4;
const COMMIT = 0x43; // C
const COMMIT_LENGTH = 1 + 1 + 8 + 8 + 8;
const RELATION = 0x52; // R
const INSERT = 0x49; // I
const NULL_CELL = 0x6e; // n

/** Columns of the outbox, in the table's order. */
const KEY = 1;
const PAYLOAD = 3;

/** Looks through what pg_recvlogical wrote: pgoutput messages, a newline after each. */
export function readDump(dump: Buffer, record: ReadingRecord): void {
  for (let at = 0; at < dump.length; at += 1) {
    switch (dump[at]) {
      case BEGIN:
        at += BEGIN_LENGTH;
        break;
      case COMMIT:
        at += COMMIT_LENGTH;
        break;
      case RELATION:
        at = endOfRelation(dump, at);
        break;
      case INSERT:
        at = readInsert(dump, at, record);
        break;
      default:
        throw new Error(`the dump has an unknown message at byte ${String(at)}`);
    }
  }
}

function readInsert(dump: Buffer, start: number, record: ReadingRecord): number {
  let at = start + 1 + 4 + 1; // its own type, the relation, 'N'
  const cells: string[] = [];
  const count = dump.readUInt16BE(at);
  at += 2;
  for (let index = 0; index < count; index += 1) {
    const isNull = dump[at] === NULL_CELL;
    at += 1;
    if (isNull) continue;
    const length = dump.readUInt32BE(at);
    at += 4;
    if (index === KEY || index === PAYLOAD) cells[index] = dump.toString('latin1', at, at + length);
    at += length;
  }
  record.see(Number(cells[KEY]), ordinalOf(cells[PAYLOAD] ?? ''));
  return at;
}

function endOfRelation(dump: Buffer, start: number): number {
  let at = start + 1 + 4;
  at = afterString(dump, afterString(dump, at)); // schema and name
  at += 1; // replica identity
  const count = dump.readUInt16BE(at);
  at += 2;
  for (let index = 0; index < count; index += 1) at = afterString(dump, at + 1) + 4 + 4;
  return at;
}

function afterString(dump: Buffer, start: number): number {
  return dump.indexOf(0, start) + 1;
}
