/** One line of the product, changed on purpose: a schedule has to find it. */
export interface Mutation {
  readonly name: string;
  /** Of the build: `<package>/<file>`. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly line: string;
  readonly becomes: string;
  /** The first seed that finds it, where hundreds come before: it is played first, and the others if it finds nothing any more. */
  readonly seed?: number;
}

export const mutations: readonly Mutation[] = [
  {
    name: 'the watermark is what was received, not what is settled',
    file: 'core/watermark.js',
    line: 'return this.#reached.position;',
    becomes: 'return (this.#newest ?? this.#reached).position;',
  },
  {
    name: 'the end of a transaction settles its last row',
    file: 'core/watermark.js',
    line: 'else if (position === this.#newest.position)',
    becomes: 'else if (false)',
  },
  {
    name: 'a run of settled positions is forgotten when its neighbours join',
    file: 'core/watermark.js',
    line: 'joined = joinedRun(mark, after);',
    becomes: 'joined = after;',
  },
  {
    name: 'one event more than was handled is settled',
    file: 'core/executor.js',
    line: 'const count = strand.inFlight;',
    becomes: 'const count = Math.min(strand.length, strand.inFlight + 1);',
  },
  {
    name: 'a head in backoff is passed over',
    file: 'core/executor.js',
    line: 'if (delay === null) {',
    becomes:
      'if (delay !== null) { strand.become("exhausted"); this.#exhausted += 1; this.skip(strand); return { outcome: "retry", dueAt: now }; } if (delay === null) {',
  },
  {
    name: 'a failed event is put at the end of its strand',
    file: 'core/executor.js',
    line: 'strand.tryAgainAt(now + Math.max(delay, notBefore));',
    becomes:
      'strand.push(strand.shift()); strand.failed(error, now); strand.tryAgainAt(now + Math.max(delay, notBefore));',
  },
  {
    name: 'a key that runs is ready for another turn',
    file: 'core/executor.js',
    line: 'strand.push(entry);',
    becomes: 'strand.push(entry); if (strand.state === "running") this.#ready.push(strand);',
  },
  {
    name: 'a turn that takes too long lets the next one of its key begin',
    file: 'core/executor.js',
    line: "strand.become('stuck');",
    becomes: "strand.become('stuck'); this.#ready.push(strand);",
  },
  {
    name: 'a strand with events left is lost after its turn',
    file: 'core/executor.js',
    line: 'if (strand.length > 0)',
    becomes: 'if (strand.length > 1)',
  },
  {
    name: 'what follows of a parked key is handled',
    file: 'core/executor.js',
    line: 'if (this.#parked.size > 0) {',
    becomes: 'if (false) {',
  },
  {
    name: 'events overtake each other on their strand',
    file: 'core/strand.js',
    line: 'this.#tail.next = entry;',
    becomes:
      '{ entry.next = this.#head.next; this.#head.next = entry; if (entry.next !== null) entry = this.#tail; }',
  },
  {
    name: 'the completed set is dropped',
    file: 'pipeline/commit-loop.js',
    line: 'completed: completed(),',
    becomes: 'completed: [],',
  },
  {
    name: 'the completed set of an earlier owner is dropped',
    file: 'pipeline/already-settled.js',
    line: 'const rest = this.remaining;',
    becomes: 'const rest = [];',
    seed: 526,
  },
  {
    name: 'the event at the watermark is delivered again',
    file: 'pipeline/already-settled.js',
    line: 'if (this.#compare(position, this.#watermark) <= 0)',
    becomes: 'if (this.#compare(position, this.#watermark) < 0)',
  },
  {
    name: 'positions are compared as text',
    file: 'pipeline/already-settled.js',
    line: 'this.#compare = compare;',
    becomes: 'this.#compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);',
  },
  {
    name: 'the log is released before the offset is saved',
    file: 'pipeline/run.js',
    line: 'this.commits.hurry();',
    becomes: 'this.commits.hurry(); this.stream.confirm(this.executor.watermark);',
  },
  {
    name: 'the window has no limit',
    file: 'pipeline/run.js',
    line: 'if (executor.unsettled > 0 && this.letters?.waitsForLog !== true)',
    becomes: 'if (false)',
  },
  {
    name: 'a former owner goes on',
    file: 'pipeline/run.js',
    line: 'this.#resolveEnded();',
    becomes:
      'if (!(error instanceof OwnershipLostError)) this.#resolveEnded(); if (error instanceof OwnershipLostError) return;',
  },
  {
    name: 'an owner in doubt goes on',
    file: 'pipeline/dispatcher.js',
    line: 'if (this.#options.doubt.inDoubtAt(wall))',
    becomes: 'if (this.#options.doubt.inDoubtAt(wall) && false)',
  },
  {
    name: 'an owner in doubt goes on with letters',
    file: 'pipeline/letters/letter-turns.js',
    line: 'await this.#options.doubt.over(closing);',
    becomes: '',
    seed: 4624,
  },
  {
    name: 'a suspect is called though doubt has come up while it was noted',
    file: 'pipeline/letters/suspects.js',
    line: 'await doubt.over(this.#ended.signal);',
    becomes: '',
  },
  {
    name: 'a process that stood still trusts its memory',
    file: 'pipeline/doubt.js',
    line: 'const STANDSTILL = 1_000;',
    becomes: 'const STANDSTILL = Infinity;',
  },
  {
    name: 'the epoch is forgotten',
    file: 'offsets-local/memory-offsets.js',
    line: 'if (held !== undefined && held.epoch > offset.epoch)',
    becomes: 'if (false)',
    seed: 125,
  },
  {
    name: 'a late commit is taken for a new one',
    file: 'offsets-local/memory-offsets.js',
    line: 'if (!isLost && held.revision >= offset.revision)',
    becomes: 'if (false)',
  },
  {
    name: 'a head is settled before it is stored',
    file: 'pipeline/letters/parking.js',
    line: 'executor.holdHead(strand);',
    becomes: 'executor.skip(strand); return "stored";',
  },
  {
    name: 'letters of an earlier run park their key before the log has come to them',
    file: 'pipeline/letters/parking.js',
    line: 'if (compare(position, watermark) <= 0)',
    becomes: 'if (true)',
  },
  {
    name: 'letters are handled beside live events of their key',
    file: 'pipeline/letters/releaser.js',
    line: 'if (!executor.isLive(key))',
    becomes: 'if (true)',
  },
  {
    name: 'letters are handled while what was live before them is not saved',
    file: 'pipeline/letters/releaser.js',
    line: 'if (!(await this.#until(() => this.#options.savedSettled() >= settled)))',
    becomes: 'if (false)',
  },
  {
    name: 'a key is live again before the log has brought its letters',
    file: 'pipeline/letters/releaser.js',
    line: 'if (!this.#isBehindLog(key))',
    becomes: 'if (false)',
  },
  {
    name: 'what the log has passed before the start is waited for',
    file: 'pipeline/letters/parking.js',
    line: 'this.#logAt = { position: watermark };',
    becomes: '',
  },
  {
    name: 'a key that comes to live takes its turn though it is held',
    file: 'core/executor.js',
    line: 'if (this.#holds.size > 0 && this.#holds.has(strand.key))\n            this.#stand(strand);',
    becomes: 'if (false) this.#stand(strand);',
  },
  {
    name: 'a key goes on after its turn though it is held',
    file: 'core/executor.js',
    line: 'this.#makeReady(strand);\n        else',
    becomes: "{ strand.become('ready'); this.#ready.push(strand); }\n        else",
  },
  {
    name: 'an owner begins before it knows what is held',
    file: 'pipeline/pipeline.js',
    line: 'const controls = await this.#config.offsets.controls.load(this.#config.name);',
    becomes: 'const controls = { revision: 0, paused: null, held: [] };',
  },
  {
    name: 'what is ordered elsewhere is not looked at',
    file: 'pipeline/control/standing-orders.js',
    line: 'if (found === null || this.#closed)',
    becomes: 'if (true)',
  },
  {
    name: 'an order is obeyed before it is stored, and not after',
    file: 'pipeline/control/standing-orders.js',
    line: 'executor.hold(held.map(({ key }) => key));',
    becomes: 'executor.hold(this.#atHand.keys());',
  },
  {
    name: 'letters are handled though their key is held',
    file: 'pipeline/letters/letter-turns.js',
    line: 'if (closing.aborted || !this.#options.mayRun(key))',
    becomes: 'if (closing.aborted)',
  },
  {
    name: 'what an operator skips takes what follows with it',
    file: 'core/executor.js',
    line: 'strand.inFlight = 1;',
    becomes: 'strand.inFlight = strand.length;',
  },
  {
    name: 'a letter that failed makes room for the next one',
    file: 'pipeline/letters/releaser.js',
    line: 'if (!(await this.#handle(letter, handled)))',
    becomes: 'if (!(await this.#handle(letter, handled)) && this.#isClosed())',
    seed: 464,
  },
];
