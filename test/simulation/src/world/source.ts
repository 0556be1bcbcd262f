import { OwnershipLostError, type OpenRequest, type Source, type SourceStream } from '@strandline/core';
import { LOG_START } from './log.js';
import type { Member } from './member.js';
import { Stream } from './stream.js';
import type { World } from './world.js';

/** A log that is read by one process of the pipeline at a time: what a Postgres slot or a lock of MySQL makes of it. */
export class SimulatedSource implements Source {
  readonly name = 'simulated';
  readonly #world: World;
  readonly #member: Member;

  constructor(world: World, member: Member) {
    this.#world = world;
    this.#member = member;
  }

  async open(request: OpenRequest): Promise<SourceStream> {
    const { server, promises } = this.#world;
    const member = this.#member;
    await this.#answer();
    while (!server.isFree) {
      if (request.signal.aborted) throw new OwnershipLostError('Stopped while standing by.');
      request.standby('another one');
      await this.#free(request.signal);
    }
    if (request.signal.aborted) throw new OwnershipLostError('Stopped while standing by.');
    const session = server.take(member.name);
    member.session = session;
    try {
      await request.load();
      const offset = await request.claim({ identity: { log: 'simulated' }, watermark: LOG_START });
      const stream = new Stream(this.#world, member, session, offset, request);
      member.stream = stream;
      promises.owns(member, offset);
      return stream;
    } catch (error) {
      server.free(session);
      throw error;
    }
  }

  reader(): never {
    throw new Error('nothing is replayed here');
  }

  inspect(): never {
    throw new Error('nothing is replayed here');
  }

  #answer(): Promise<void> {
    return new Promise((resolve) => {
      this.#world.clock.answer(this.#member, this.#world.latency(), resolve);
    });
  }

  /** Resolves when the log is free, by the server's word, or the signal aborts. */
  #free(signal: AbortSignal): Promise<void> {
    const { clock, server } = this.#world;
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        resolve();
      });
      server.onFree(() => {
        clock.answer(this.#member, this.#world.latency(), resolve);
      });
    });
  }
}
