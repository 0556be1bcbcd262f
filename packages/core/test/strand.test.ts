import { describe, expect, it } from 'vitest';
import { InvariantError } from '../src/errors.js';
import { Entry, Strand, type StrandState } from '../src/strand.js';
import { event } from './fixtures.js';

const STATES: readonly StrandState[] = [
  'ready',
  'running',
  'stuck',
  'backoff',
  'exhausted',
  'halted',
  'held',
];

/** How a new strand gets into each state. */
const WAY: Readonly<Record<StrandState, readonly StrandState[]>> = {
  ready: [],
  running: ['running'],
  stuck: ['running', 'stuck'],
  backoff: ['running', 'backoff'],
  exhausted: ['running', 'exhausted'],
  halted: ['running', 'exhausted', 'halted'],
  held: ['held'],
};

/** The transitions of the class comment. */
const ALLOWED = new Set([
  'ready → running',
  'running → ready',
  'running → backoff',
  'running → stuck',
  'running → exhausted',
  'stuck → ready',
  'stuck → backoff',
  'stuck → exhausted',
  'backoff → ready',
  'exhausted → ready',
  'exhausted → halted',
  'halted → ready',
  ...[
    'ready → held',
    'running → held',
    'stuck → held',
    'backoff → held',
    'exhausted → held',
    'halted → held',
  ],
  'held → ready',
  ...['ready → exhausted', 'held → exhausted', 'backoff → exhausted', 'halted → exhausted'],
]);

function strandIn(state: StrandState): Strand {
  const strand = new Strand('key');
  for (const step of WAY[state]) strand.become(step);
  return strand;
}

function strandOf(...numbers: number[]): Strand {
  const strand = new Strand('key');
  for (const n of numbers) strand.push(new Entry(event('key', n)));
  return strand;
}

const transitions = STATES.flatMap((from) =>
  STATES.map((to) => ({ from, to, allowed: ALLOWED.has(`${from} → ${to}`) })),
);

describe('strand', () => {
  it('starts ready', () => {
    expect(new Strand('key').state).toBe('ready');
  });

  it.each(transitions.filter(({ allowed }) => allowed))('may go from $from to $to', ({ from, to }) => {
    const strand = strandIn(from);
    strand.become(to);
    expect(strand.state).toBe(to);
  });

  it.each(transitions.filter(({ allowed }) => !allowed))('may not go from $from to $to', ({ from, to }) => {
    const strand = strandIn(from);
    expect(() => {
      strand.become(to);
    }).toThrow(InvariantError);
    expect(strand.state).toBe(from);
  });

  it('keeps the events of its key in the order they came in', () => {
    const strand = strandOf(1, 2, 3);
    expect(strand.length).toBe(3);
    expect([strand.shift(), strand.shift()].map(({ event }) => event.id)).toEqual(['1', '2']);
    strand.push(new Entry(event('key', 4)));
    expect([strand.shift(), strand.shift()].map(({ event }) => event.id)).toEqual(['3', '4']);
    expect(strand.length).toBe(0);
  });

  it('has as its head the oldest event that is not settled', () => {
    const strand = strandOf(1, 2);
    expect(strand.head.event.id).toBe('1');
    strand.push(new Entry(event('key', 3)));
    expect(strand.head.event.id).toBe('1');
    strand.shift();
    expect(strand.head.event.id).toBe('2');
  });

  it('lets go of what it has shifted, so a settled event does not keep its followers in memory', () => {
    const strand = strandOf(1, 2);
    expect(strand.shift().next).toBeNull();
  });

  it('starts afresh with the next head: no attempts, no failures', () => {
    const strand = strandOf(1, 2);
    strand.attempt = 4;
    strand.failed(new Error('the handler failed'), 1_000);
    strand.shift();
    expect([strand.attempt, strand.firstFailedAt, strand.lastError]).toEqual([0, NaN, undefined]);
    expect(strand.failureHistory).toEqual([]);
  });

  it('names the events in flight, the oldest first', () => {
    const strand = strandOf(1, 2, 3);
    expect(strand.inFlightEvents()).toEqual([]);
    strand.inFlight = 2;
    expect(strand.inFlightEvents().map(({ id }) => id)).toEqual(['1', '2']);
  });

  it('crashes on a head that is not there, or on more in flight than it has', () => {
    const strand = strandOf(1);
    strand.inFlight = 2;
    expect(() => strand.inFlightEvents()).toThrow(InvariantError);
    strand.shift();
    expect(() => strand.head).toThrow(InvariantError);
    expect(() => strand.shift()).toThrow(InvariantError);
  });

  it('is found by its key in the message of a broken invariant', () => {
    expect(() => {
      new Strand('order "7"').become('halted');
    }).toThrow(/"order \\"7\\"" can't go from ready to halted/);
  });
});
