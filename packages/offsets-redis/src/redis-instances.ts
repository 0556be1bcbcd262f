import type { InstanceRegister, InstanceReport } from '@strandline/core';
import type { Calls } from './calls.js';
import { decodeReport, encodeReport } from './instance-record.js';
import { leaveScript, listInstancesScript, reportScript } from './instance-scripts.js';

/**
 * A field per process in one hash per pipeline, with the time at which it is forgotten, by the clock of Redis: those of
 * the processes may differ. No replica is waited for, since the next report says it again.
 */
export class RedisInstances implements InstanceRegister {
  readonly #calls: Calls;
  /** Who reports has other work to do: how long it waits for a connection, in milliseconds. */
  readonly #patience: number;

  constructor(calls: Calls, patience: number) {
    this.#calls = calls;
    this.#patience = patience;
  }

  async report(pipeline: string, report: InstanceReport, ttl: number): Promise<void> {
    await this.#calls.run({
      script: reportScript,
      key: this.#calls.keyOf(pipeline, 'instances'),
      args: [report.id, encodeReport(report), String(Math.ceil(ttl))],
      patience: this.#patience,
      replicated: false,
    });
  }

  async leave(pipeline: string, id: string): Promise<void> {
    await this.#calls.run({
      script: leaveScript,
      key: this.#calls.keyOf(pipeline, 'instances'),
      args: [id],
      patience: this.#patience,
      replicated: false,
    });
  }

  async list(pipeline: string): Promise<readonly InstanceReport[]> {
    const key = this.#calls.keyOf(pipeline, 'instances');
    const [, ...texts] = await this.#calls.run({
      script: listInstancesScript,
      key,
      args: [],
      replicated: false,
    });
    return texts.map((text) => decodeReport(text ?? '', key, this.#calls.name));
  }
}
