import { fail, findingsOf, pass, warn, type Check, type Verdict, type Finding } from '@strandline/core';

/** What the inbox does with its table. */
export const NEEDED = ['select', 'insert', 'delete'] as const;

/** What was found of an inbox's table. */
export type TableLook =
  | { readonly kind: 'missing'; readonly mayCreate: 'yes' | 'no' | 'unknown' }
  | { readonly kind: 'unfit'; readonly problem: string }
  | { readonly kind: 'there'; readonly lacking: readonly string[] };

export interface InboxFacts {
  /** Qualified and quoted. */
  readonly table: string;
  /** The statements that make it. */
  readonly ddl: readonly string[];
  /** Whether the inbox is to make it. */
  readonly create: boolean;
  readonly look: TableLook;
}

export const INBOX_CHECKS: readonly Check<InboxFacts>[] = [
  {
    check: 'inbox-table',
    why: 'The record of an event and its effect are one transaction: without the table no event is handled.',
    judge: ({ table, ddl, create, look }: InboxFacts): Verdict | null => {
      const make = `${ddl.join('; ')};`;
      switch (look.kind) {
        case 'there':
          return pass(table);
        case 'unfit':
          return fail(
            `${table} ${look.problem}`,
            `Name another one in inbox(…, { table }), or have it as this makes it: ${make}`,
          );
        case 'missing':
          if (!create) return fail(`${table} is not there, and create is off`, make);
          if (look.mayCreate === 'yes') return pass(`${table} is not there yet: the first event makes it`);
          return look.mayCreate === 'no'
            ? fail(`${table} is not there, and this user may not make it`, make)
            : warn(`${table} is not there yet: the first event makes it, if this user may`, make);
      }
    },
  },
  {
    check: 'inbox-privileges',
    why: 'Events are recorded, looked for and, once they are old, deleted.',
    judge: ({ table, look }: InboxFacts): Verdict | null => {
      if (look.kind !== 'there') return null;
      return look.lacking.length === 0
        ? pass(`this user may ${NEEDED.join(', ')}`)
        : fail(
            `this user may not ${look.lacking.join(', ')}`,
            `grant ${look.lacking.join(', ')} on ${table} to <user>;`,
          );
    },
  },
];

/** Whether the inbox has its table. */
export function diagnoseInbox(facts: InboxFacts): readonly Finding[] {
  return findingsOf(INBOX_CHECKS, facts);
}
