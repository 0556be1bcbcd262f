import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { OffsetsChoice } from '@strandline/test-kit';
import { fileOffsets } from 'strandline';
import { PIPELINE } from '../names.js';
import type { OffsetsPlace, SavedOffset } from './offsets-place.js';

export class FilePlace implements OffsetsPlace {
  readonly url = null;
  readonly #directory: string;

  static async make(): Promise<FilePlace> {
    return new FilePlace(await mkdtemp(path.join(tmpdir(), 'strandline-chaos-offsets-')));
  }

  private constructor(directory: string) {
    this.#directory = directory;
  }

  choice(): OffsetsChoice {
    return { kind: 'file', directory: this.#directory };
  }

  look(): Promise<SavedOffset | null> {
    return fileOffsets({ directory: this.#directory }).load(PIPELINE);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true });
  }
}
