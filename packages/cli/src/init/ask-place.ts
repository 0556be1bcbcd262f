import { env } from '@strandline/pipeline';
import { placeOf, type Place } from '@strandline/setup';
import { cliError } from '../errors.js';
import type { Asker } from './asker.js';

/** Where the database is: by the flag, by the environment, or by asking. Throws `CLI_INIT_MISSING`. */
export async function askPlace(given: string | undefined, asker: Asker | null): Promise<Place> {
  const text = given ?? env('DATABASE_URL', '');
  if (text !== '') return withPassword(text);
  if (asker === null)
    throw cliError(
      'CLI_INIT_MISSING',
      'It is not said which database.',
      'Give --url postgres://user@host:5432/database (or mysql://…), or set DATABASE_URL.',
    );
  const url = await asker.text('The database, as postgres://user@host:5432/database or mysql://…', {
    check: (text) => {
      try {
        placeOf(text);
        return null;
      } catch (error) {
        return (error as Error).message;
      }
    },
  });
  if (new URL(url).password !== '') return placeOf(url);
  const password = await asker.text('Its password', { secret: true });
  return placeOf(url, password);
}

/** A password that is not in the URL is taken from where the servers' own clients take it. */
function withPassword(text: string): Place {
  const place = placeOf(text);
  return placeOf(text, process.env[place.protocol === 'postgres' ? 'PGPASSWORD' : 'MYSQL_PWD']);
}
