import { readFileSync } from 'node:fs';
import {
  newPassword,
  newWebhookSecret,
  shownUrl,
  urlOf,
  valueIn,
  type Place,
  type Variable,
} from '@strandline/setup';
import { cliError } from '../errors.js';
import type { Decision } from './decide.js';

/** What the environment of the pipeline must have. */
export interface Variables {
  /** With their values: these go into the env file, and nowhere else. */
  readonly known: readonly Variable[];
  /** What to print for each that has to be set, with placeholders for what is secret. */
  readonly shown: readonly Variable[];
  /** Of the role that is to be made; null when none is, or it is somebody else's to choose. */
  readonly password: string | null;
}

export interface VariablesRequest {
  readonly place: Place;
  readonly decision: Decision;
  /** Whom the database was asked as. */
  readonly user: string;
  readonly roleIsThere: boolean;
  /** What the env file has now; null when there is to be none. */
  readonly file: { readonly name: string; readonly text: string } | null;
}

/**
 * The variables. A password of a new role that the env file has already, since an earlier call has written it, is taken
 * again. Throws `CLI_INIT_FILE` when the file has a DATABASE_URL of somebody else: it is not ours to replace.
 */
export function variablesOf(request: VariablesRequest): Variables {
  const { place, decision, user, roleIsThere, file } = request;
  const { role } = decision.choice;
  const isSelf = role === user || role === place.user;
  const isNew = !isSelf && !roleIsThere;
  const written = file === null ? null : valueIn(file.text, 'DATABASE_URL');
  if (isNew && written !== null && userOf(written) !== role)
    throw cliError(
      'CLI_INIT_FILE',
      `${file?.name ?? ''} has a DATABASE_URL already, of another user than ${role}.`,
      'Name another file with --variables: the pipeline has a login of its own.',
    );
  const password = isNew && file !== null ? (passwordOf(written) ?? newPassword()) : null;
  const known: Variable[] = [];
  if (isSelf) known.push({ name: 'DATABASE_URL', value: place.url });
  else if (password !== null) known.push({ name: 'DATABASE_URL', value: urlOf(place, role, password) });
  if ('redis' in decision.offsets) known.push({ name: 'REDIS_URL', value: decision.offsets.redis });
  if (decision.webhook !== null)
    known.push(
      { name: 'WEBHOOK_URL', value: decision.webhook },
      { name: 'WEBHOOK_SECRET', value: newWebhookSecret() },
    );
  return { known, shown: shownVariables(request), password };
}

function shownVariables({ place, decision }: VariablesRequest): Variable[] {
  const { role } = decision.choice;
  return [
    { name: 'DATABASE_URL', value: shownUrl(urlOf(place, role, 'x')) },
    ...('redis' in decision.offsets ? [{ name: 'REDIS_URL', value: shownUrl(decision.offsets.redis) }] : []),
    ...(decision.webhook === null
      ? []
      : [
          // Some receivers have their secret in the path.
          {
            name: 'WEBHOOK_URL',
            value: shownUrl(decision.webhook).replace(/^(\w+:\/\/[^/]*\/).+$/, '$1<…>'),
          },
          { name: 'WEBHOOK_SECRET', value: '<whsec_…>' },
        ]),
  ];
}

/** Whether the DATABASE_URL of an env file is that of this role. */
export function isLoginOf(role: string, text: string): boolean {
  const url = valueIn(text, 'DATABASE_URL');
  return url !== null && userOf(url) === role;
}

function userOf(url: string): string | null {
  try {
    return decodeURIComponent(new URL(url).username);
  } catch {
    return null;
  }
}

function passwordOf(url: string | null): string | null {
  if (url === null) return null;
  const password = decodeURIComponent(new URL(url).password);
  return password === '' ? null : password;
}

/** The text of a file; empty when there is none. Throws `CLI_INIT_FILE`. */
export function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as { code?: unknown }).code === 'ENOENT') return '';
    throw cliError('CLI_INIT_FILE', `${file} can not be read.`, 'Let this user read it, or name another.', {
      cause,
    });
  }
}
