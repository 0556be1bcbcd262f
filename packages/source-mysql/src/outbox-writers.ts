import { queryRows } from './connection.js';
import type { Session } from './session.js';

/** Something whose use may write the outbox: the table itself, a view of it, a routine, a table with triggers. */
interface Named {
  readonly schema: string;
  readonly name: string;
}

/** A program of the catalog: its text, and what is named in a statement that runs it. */
interface Program extends Named {
  readonly text: string | null;
}

/** Privileges without which the catalog hides programs, or their texts. */
const TO_SEE_ALL = ['TRIGGER', 'SELECT', 'SHOW VIEW', 'EXECUTE'];

const CREATES =
  /\b(?:TRIGGER|PROCEDURE|FUNCTION|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?((?:`[^`]+`|[\w$]+)(?:\s*\.\s*(?:`[^`]+`|[\w$]+))?)/i;
const TRIGGER_TABLE =
  /\bTRIGGER\b[\s\S]*?\b(?:INSERT|UPDATE|DELETE)\s+ON\s+((?:`[^`]+`|[\w$]+)(?:\s*\.\s*(?:`[^`]+`|[\w$]+))?)/i;

/**
 * Tells whether a statement in the log, which has no rows there, may have written the outbox: it names the table,
 * or something that leads there through views, triggers and routines, however long the way. Where the user may not
 * see all of them, every statement may.
 */
export class OutboxWriters {
  readonly #leading: Named[];
  /** From which no way to the outbox is known. */
  #harmless: readonly Program[];
  readonly #seesAll: boolean;

  private constructor(outbox: Named, programs: readonly Program[], seesAll: boolean) {
    this.#leading = [outbox];
    this.#harmless = programs;
    this.#seesAll = seesAll;
    this.#followWays();
  }

  static async read(sql: Session, schema: string, name: string): Promise<OutboxWriters> {
    const programs = await queryRows(
      sql,
      `select event_object_schema as "schema", event_object_table as name, action_statement as text
         from information_schema.triggers
       union all select routine_schema, routine_name, routine_definition from information_schema.routines
         where routine_schema not in ('sys', 'mysql')
       union all select table_schema, table_name, view_definition from information_schema.views
         where table_schema not in ('sys', 'mysql', 'information_schema', 'performance_schema')`,
    );
    return new OutboxWriters(
      { schema, name },
      programs.map((row) => ({
        schema: row['schema'] ?? '',
        name: row['name'] ?? '',
        text: row['text'] ?? null,
      })),
      await seesAll(sql),
    );
  }

  /** @param database in which the statement ran */
  mayWrite(statement: string, database: string): boolean {
    if (!this.#seesAll) return true;
    if (this.#names(statement, database)) return true;
    // A function that changed rows is logged as a call of it.
    return /^\s*(call|select|do)\b/i.test(statement) && !this.#isHarmlessCall(statement, database);
  }

  /** Programs can be created while the log is read: the log has that too. */
  learn(statement: string, database: string): void {
    if (!/^\s*(?:\/\*.*?\*\/\s*)*(?:CREATE|ALTER)\b/is.test(statement)) return;
    const created = TRIGGER_TABLE.exec(statement)?.[1] ?? CREATES.exec(statement)?.[1];
    if (created === undefined) return;
    const parts = created.split('.').map((part) => part.trim().replace(/^`(.*)`$/, '$1'));
    const schema = parts.length === 2 ? (parts[0] ?? '') : database;
    this.#harmless = [...this.#harmless, { schema, name: parts.at(-1) ?? '', text: statement }];
    this.#followWays();
  }

  /** Moves what leads to the outbox over, until nothing more does. A text that may not be seen may say anything. */
  #followWays(): void {
    for (let before = Infinity; this.#harmless.length < before;) {
      before = this.#harmless.length;
      const isLeading = ({ text, schema }: Program): boolean => text === null || this.#names(text, schema);
      const leading = this.#harmless.filter(isLeading);
      this.#leading.push(...leading);
      this.#harmless = this.#harmless.filter((program) => !leading.includes(program));
    }
  }

  #names(text: string, database: string): boolean {
    const words = new Set(text.toLowerCase().split(/[^\p{L}\p{N}_$]+/u));
    return this.#leading.some(
      ({ schema, name }) =>
        isNamed(name, words, text) && (schema === database || isNamed(schema, words, text)),
    );
  }

  #isHarmlessCall(statement: string, database: string): boolean {
    const words = new Set(statement.toLowerCase().split(/[^\p{L}\p{N}_$]+/u));
    return this.#harmless.some(
      ({ schema, name }) =>
        isNamed(name, words, statement) && (schema === database || isNamed(schema, words, statement)),
    );
  }
}

/** Names of other characters than words have are looked for anywhere. */
function isNamed(name: string, words: ReadonlySet<string>, text: string): boolean {
  const lower = name.toLowerCase();
  return words.has(lower) || (!/^[\p{L}\p{N}_$]+$/u.test(lower) && text.toLowerCase().includes(lower));
}

/** Privileges that come by a role are not told here: the answer errs towards no. */
async function seesAll(sql: Session): Promise<boolean> {
  const rows = await queryRows(
    sql,
    `select upper(privilege_type) as privilege from information_schema.user_privileges
     where grantee = concat('''', replace(current_user(), '@', '''@'''), '''')`,
  );
  const held = new Set(rows.map((row) => row['privilege']));
  return TO_SEE_ALL.every((privilege) => held.has(privilege));
}
