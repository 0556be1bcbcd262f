import type { Choice } from '../choice.js';
import { tableNameOf, type Database } from '../database.js';
import type { Survey } from '../facts.js';
import type { Place } from '../place.js';
import { runSteps } from '../run-steps.js';
import type { Step } from '../steps.js';
import { hostsOf, readNeeds } from './needs.js';
import { plan } from './plan.js';
import { serverFacts } from './server-facts.js';
import { changing, literal, looking } from './session.js';
import { readTables } from './tables.js';

export class MysqlDatabase implements Database {
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  survey(table: string | null): Promise<Survey> {
    return looking(this.#place, async (session) => {
      const { flavour, version, database, user } = await serverFacts(session, this.#place.target);
      const named = table === null ? null : tableNameOf(table, database);
      const { count, tables } = await readTables(session, database, named);
      return {
        ...{ flavour, version, database, user, schema: database },
        ...{ tableCount: count, tables, notes: [] },
      };
    });
  }

  missing(choice: Choice): Promise<readonly Step[]> {
    return looking(this.#place, async (session) => {
      const server = await serverFacts(session, this.#place.target);
      return plan(server, await readNeeds(session, server, choice), choice);
    });
  }

  hasRole(role: string): Promise<boolean> {
    return looking(this.#place, async (session) => ((await hostsOf(session, role)) ?? []).length > 0);
  }

  run(steps: readonly Step[], password: string | null, done: (step: Step) => void): Promise<void> {
    return changing(this.#place, (session) =>
      // As it is: MySQL rewrites the statement for its logs, so that the password is not in them.
      runSteps(steps, password, { run: (sql) => session.rows(sql), literal }, done),
    );
  }
}
