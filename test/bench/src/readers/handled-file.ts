import { closeSync, openSync, readSync, fstatSync, writeSync } from 'node:fs';
import { now } from './reading.js';

/** Key and ordinal, four bytes each, and the moment, eight. */
const BYTES = 16;

/** One call of a handler. */
export interface Handled {
  readonly key: number;
  readonly ordinal: number;
  /** Of the machine's monotonic clock. */
  readonly moment: number;
}

/** Where a process that is going to be killed notes what it handles: what was written stays, whatever becomes of it. */
export class HandledFile {
  readonly #file: number;
  readonly #bytes = Buffer.alloc(BYTES);

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  note(key: number, ordinal: number): void {
    this.#bytes.writeUInt32LE(key, 0);
    this.#bytes.writeUInt32LE(ordinal, 4);
    this.#bytes.writeDoubleLE(now(), 8);
    writeSync(this.#file, this.#bytes);
  }
}

/** Reads what was noted since the last call, while it is being written. */
export class HandledReader {
  readonly #path: string;
  #at = 0;

  constructor(path: string) {
    this.#path = path;
  }

  next(): Handled[] {
    const file = openSync(this.#path, 'a+');
    try {
      const whole = Math.floor((fstatSync(file).size - this.#at) / BYTES) * BYTES;
      const bytes = Buffer.alloc(whole);
      readSync(file, bytes, 0, whole, this.#at);
      this.#at += whole;
      return Array.from({ length: whole / BYTES }, (_, index) => ({
        key: bytes.readUInt32LE(index * BYTES),
        ordinal: bytes.readUInt32LE(index * BYTES + 4),
        moment: bytes.readDoubleLE(index * BYTES + 8),
      }));
    } finally {
      closeSync(file);
    }
  }
}
