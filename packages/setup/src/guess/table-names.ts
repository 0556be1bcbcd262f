import { plain } from './words.js';

/** How much a table's name alone speaks for an outbox: of 40. The first that fits counts. */
const NAMES: readonly (readonly [RegExp, number])[] = [
  [/outbox/, 40],
  [/eventpublication|domainevent|integrationevent|outgoing(message|event|envelope)|eventoutgoing/, 33],
  [/event(log|store|s|entry|queue|bus)?$|evententries$/, 22],
  [/messages?$|envelopes?$|publications?$|notifications?$|event/, 16],
  [/queue|jobs?$|message/, 8],
];

/** What is beside an outbox, or was one. */
const OTHERS =
  /inbox|deadletter|parkedkeys|letterowners|outboxstate|migration|archive|archived|backup|history|audit|old$|tmp|temp$|^strandlineinbox/;

/** How much a table's name speaks for an outbox, from -20 to 40. Pure, and cheap: it sorts all names of a server. */
export function nameScore(name: string): number {
  const text = plain(name);
  const score = NAMES.find(([pattern]) => pattern.test(text))?.[1] ?? 0;
  return OTHERS.test(text) ? Math.floor(score / 4) - 20 : score;
}

/** The names that are most like an outbox's, at most so many; equal ones stay in their order. */
export function likeliest<T extends { readonly name: string }>(names: readonly T[], limit: number): T[] {
  return names
    .map((table) => ({ table, score: nameScore(table.name) }))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ table }) => table);
}
