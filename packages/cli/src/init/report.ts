import {
  isKeySure,
  shellText,
  type Step,
  type Survey,
  type TableFacts,
  type Variable,
} from '@strandline/setup';
import type { Decision } from './decide.js';
import type { Written } from './write-files.js';

/** What `init` has found, decided and done; `--json` prints it as it is. No text in it holds a password. */
export interface InitReport {
  readonly server: {
    readonly flavour: Survey['flavour'];
    readonly version: string;
    readonly target: string;
    readonly user: string;
    readonly tables: number;
  };
  readonly notes: readonly string[];
  readonly pipeline: string;
  readonly outbox: {
    readonly table: string;
    /** Null for one that is to be made. */
    readonly score: number | null;
    readonly rows: number | null;
    /** Rows written since the server's statistics began; null where it does not count them. */
    readonly writes: TableFacts['writes'];
    readonly id: string;
    readonly key: readonly string[];
    readonly keyIsSure: boolean;
    readonly keyWhy: string;
    readonly alternatives: readonly { readonly columns: readonly string[]; readonly why: string }[];
    readonly type: string | null;
    readonly payload: string | null;
    readonly headers: string | null;
    readonly unneeded: readonly string[];
  };
  readonly others: readonly { readonly table: string; readonly score: number }[];
  readonly config: { readonly file: string; readonly result: Written | 'dry run'; readonly text: string };
  readonly steps: readonly ReportedStep[];
  readonly envFile: { readonly file: string; readonly result: Written } | null;
  /** What is to be set yet, with placeholders for what is secret. */
  readonly variables: readonly Variable[];
  readonly next: readonly string[];
}

export interface ReportedStep extends Step {
  readonly done: boolean;
}

export function outboxReport(decision: Decision): InitReport['outbox'] {
  const { choice, candidate, key } = decision;
  const { id, type, payload, headers } = choice.mapping;
  return {
    table: `${choice.table.schema}.${choice.table.name}`,
    score: candidate?.score ?? null,
    rows: candidate?.table.rows ?? null,
    writes: candidate?.table.writes ?? null,
    id,
    key: choice.mapping.key,
    keyIsSure: candidate !== null && isKeySure(candidate),
    keyWhy: key.why,
    alternatives: key.alternatives.map(({ columns, why }) => ({ columns, why })),
    ...{ type, payload, headers },
    unneeded: candidate?.unneeded ?? [],
  };
}

/** The commands that come now, ready to copy. */
export function nextCommands(
  out: string,
  envFile: string | null,
  variables: readonly Variable[],
): readonly string[] {
  const config = out === 'strandline.config.ts' ? '' : ` --config ${shellText(out)}`;
  const where = envFile === null ? config : `${config} --dotenv ${shellText(envFile)}`;
  return [
    ...variables.map(({ name, value }) => `export ${name}=${quoted(value)}`),
    `npx strandline doctor${where}`,
    `npx strandline run${where}`,
  ];
}

/** A placeholder has letters that a shell understands. */
function quoted(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}
