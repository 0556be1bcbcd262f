import type { TableName } from './facts.js';

export type Start = 'now' | 'snapshot' | 'earliest';

/** Which column means what: the `outbox` of a source. */
export interface Mapping {
  readonly id: string;
  /** One column or several. */
  readonly key: readonly string[];
  readonly type: string | null;
  readonly payload: string | null;
  readonly headers: string | null;
}

/** Where the pipeline saves how far it is. */
export type OffsetsChoice = { readonly redis: string } | { readonly directory: string };

/** All that was decided: what the config says, and what the server needs for it. */
export interface Choice {
  /** The pipeline's name. */
  readonly name: string;
  readonly table: TableName;
  /** The table is to be made. */
  readonly create: boolean;
  readonly mapping: Mapping;
  readonly start: Start;
  /** The user that the pipeline logs in as. */
  readonly role: string;
  readonly deadLetters: boolean;
}

/** The names of slot and publication, by the rule of the source. */
export function serverNameOf(pipeline: string): string {
  return `strandline_${pipeline.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_')}`.slice(0, 63);
}

/** A name for the pipeline: slots belong to the whole server, so the database is in it. */
export function pipelineNameOf(database: string, table: string): string {
  const words = (text: string): string =>
    text
      .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1-$2')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-');
  const name = `${words(database)}-${words(table)}`.replaceAll(/-+/g, '-').replaceAll(/^-|-$/g, '');
  return name.slice(0, 50).replace(/-$/, '') || 'outbox';
}

/** What a pipeline may be called: the rule of `definePipeline`. */
export const PIPELINE_NAME = /^[a-z0-9][a-z0-9_-]{0,49}$/;
