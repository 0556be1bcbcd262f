import type { Choice } from '../choice.js';
import { tableNameOf, type Database } from '../database.js';
import type { Survey } from '../facts.js';
import type { Place } from '../place.js';
import { runSteps } from '../run-steps.js';
import type { Step } from '../steps.js';
import { readNeeds } from './needs.js';
import { plan } from './plan.js';
import { scramVerifier } from './scram.js';
import { serverFacts } from './server-facts.js';
import { changing, literal, looking } from './session.js';
import { readTables } from './tables.js';

const POOLER =
  'A connection pooler stands between. The pipeline must reach Postgres itself: put its own address and port into DATABASE_URL.';

export class PostgresDatabase implements Database {
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  survey(table: string | null): Promise<Survey> {
    return looking(this.#place, async (session) => {
      const facts = await serverFacts(session, this.#place.target);
      const named = table === null ? null : tableNameOf(table, facts.schema);
      const { count, tables } = await readTables(session, named);
      return {
        flavour: 'postgres',
        ...{ version: facts.version, schema: facts.schema, database: facts.database, user: facts.user },
        ...{ tableCount: count, tables },
        notes: facts.pooler ? [POOLER] : [],
      };
    });
  }

  missing(choice: Choice): Promise<readonly Step[]> {
    return looking(this.#place, async (session) => {
      const server = await serverFacts(session, this.#place.target);
      return plan(server, await readNeeds(session, choice), choice);
    });
  }

  async hasRole(role: string): Promise<boolean> {
    const found = await looking(this.#place, (session) =>
      session.rows('select from pg_roles where rolname = $1', [role]),
    );
    return found.length > 0;
  }

  run(steps: readonly Step[], password: string | null, done: (step: Step) => void): Promise<void> {
    return changing(this.#place, (session) =>
      runSteps(
        steps,
        password,
        { run: (sql) => session.rows(sql), literal: (text) => literal(scramVerifier(text)) },
        done,
      ),
    );
  }
}
