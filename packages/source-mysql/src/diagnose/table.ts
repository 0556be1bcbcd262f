import { answerOf, fail, pass, warn, type Check, type Verdict } from '@strandline/core';
import type { MysqlFacts, TableState } from './facts.js';
import type { Grants } from './grants.js';

/** A check of a table that is there; the one of the table itself says when it is not. */
function ofTable(
  judge: (table: TableState, facts: MysqlFacts) => Verdict | null,
): (facts: MysqlFacts) => Verdict | null {
  return (facts) => ('code' in facts.table ? null : judge(answerOf(facts.table), facts));
}

export const TABLE_CHECKS: readonly Check<MysqlFacts>[] = [
  {
    check: 'mysql-table',
    why: 'Its inserts are the events, and they must commit and roll back with the business data.',
    judge: ({ table, server }: MysqlFacts): Verdict | null => {
      if (!('code' in table)) return pass(`${answerOf(table).label}, InnoDB`);
      const { code, problem, remedy } = table;
      const grant = `grant select on <database>.<table> to ${server.user};`;
      return fail(`${code}: ${problem}`, code === 'MYSQL_TABLE_MISSING' ? `${remedy} ${grant}` : remedy);
    },
  },
  {
    check: 'mysql-columns',
    why: 'Mapped columns must be there, in a type and a character set that can be read.',
    judge: ofTable(({ columns }) =>
      columns === null
        ? pass('every mapped column is there and can be read')
        : fail(`${columns.code}: ${columns.problem}`, columns.remedy),
    ),
  },
  {
    check: 'mysql-id',
    why: 'Handlers deduplicate on event.id: two events of one id look like one that came twice.',
    judge: ofTable(({ uniqueKeys, sqlName }, { config: { outbox } }) =>
      uniqueKeys.some((key) => key.length === 1 && isSame(key[0], outbox.id))
        ? pass(`${outbox.id} is unique`)
        : warn(
            `nothing keeps two rows from having one ${outbox.id}`,
            `alter table ${sqlName} add unique (\`${outbox.id}\`);`,
          ),
    ),
  },
  {
    check: 'mysql-key',
    why: 'A row without a key stops the pipeline with MYSQL_NULL_KEY.',
    judge: ofTable(keyVerdict),
  },
];

/** MySQL does not tell upper from lower case in names of columns. */
function isSame(a: string | undefined, b: string): boolean {
  return a?.toLowerCase() === b.toLowerCase();
}

function keyVerdict({ nullable }: TableState, { config: { outbox, nullKey } }: MysqlFacts): Verdict | null {
  const { key } = outbox;
  if (typeof key === 'function' || nullKey === 'unordered') return null;
  const names = [key].flat();
  const missing = names.filter((name) => nullable.some((column) => isSame(column, name)));
  return missing.length === 0
    ? pass(`${names.join(', ')} not null`)
    : warn(
        `${missing.join(', ')} may be null`,
        `Make it not null (alter table … modify … not null;), or set nullKey: 'unordered' in mysql({ … }).`,
      );
}

export const PRIVILEGE_CHECKS: readonly Check<MysqlFacts>[] = [
  {
    check: 'mysql-replication-slave',
    why: 'Who asks for the log needs it.',
    judge: (facts: MysqlFacts): Verdict | null => granted(facts, ['REPLICATION SLAVE']),
  },
  {
    check: 'mysql-replication-client',
    why: 'Where the log stands and how far it reaches is told to who has it.',
    // MariaDB calls it BINLOG MONITOR from 10.5 on.
    judge: (facts: MysqlFacts): Verdict | null => granted(facts, ['REPLICATION CLIENT', 'BINLOG MONITOR']),
  },
  {
    check: 'mysql-undecided-xa',
    why: 'Rows of an XA transaction that was prepared before the first start and commits later lie before the start: they would be lost.',
    judge: xaVerdict,
  },
  {
    check: 'mysql-lock-tables',
    why: "start: 'snapshot' locks the table for a moment.",
    judge: ofTable(({ schema }, facts) => {
      if (facts.config.start !== 'snapshot' || facts.offset !== null) return null;
      return granted(facts, ['LOCK TABLES'], schema);
    }),
  },
];

function granted(
  { grants: asked, server }: MysqlFacts,
  names: readonly [string, ...string[]],
  schema?: string,
): Verdict {
  const grants = answerOf(asked);
  const found = names.find((name) => grants.has(name, schema));
  if (found !== undefined) return pass(`${server.user} has ${found.toLowerCase()}`);
  const [name] = names;
  const on = schema === undefined ? '*.*' : `\`${schema}\`.*`;
  const remedy = `grant ${name.toLowerCase()} on ${on} to ${server.user};`;
  return lacking(grants, `${server.user} has no ${name.toLowerCase()}`, remedy);
}

/** A role that is granted and not active may carry it, and does not help until it is active. */
function lacking({ hasRoles }: Grants, found: string, remedy: string): Verdict {
  return hasRoles
    ? fail(
        `${found}, unless a role carries it that is not active`,
        `${remedy} -- or: set default role all to <user>;`,
      )
    : fail(found, remedy);
}

function xaVerdict({ config, offset, prepared }: MysqlFacts): Verdict | null {
  const asks = offset === null && config.undecidedXa === 'refuse' && config.start !== 'earliest';
  if (!asks || config.start === null) return null;
  const count = answerOf(prepared);
  if (count === 0) return pass('no XA transaction is undecided');
  return fail(
    `${String(count)} XA transactions are prepared and not decided`,
    'xa recover; -- and for each: xa commit …; or xa rollback …;',
  );
}
