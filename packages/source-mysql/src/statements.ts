/**
 * What a statement in the log means for the transaction that it stands in. The log of a row-format server has
 * only control statements and DDL; anything else changed rows that are not in the log as rows.
 */
export type Statement =
  | { readonly kind: 'begin' | 'commit' | 'rollback' | 'harmless' }
  | { readonly kind: 'savepoint' | 'rollbackTo'; readonly name: string }
  | { readonly kind: 'xaStart' | 'xaEnd' | 'xaCommit' | 'xaRollback'; readonly xid: string }
  | { readonly kind: 'change'; readonly text: string };

const CONTROL: Readonly<Record<string, 'begin' | 'commit' | 'rollback'>> = {
  BEGIN: 'begin',
  'START TRANSACTION': 'begin',
  COMMIT: 'commit',
  ROLLBACK: 'rollback',
};

const XA = /^XA\s+(START|BEGIN|END|COMMIT|ROLLBACK)\s+(.*)$/is;
const XA_KINDS: Readonly<Record<string, 'xaStart' | 'xaEnd' | 'xaCommit' | 'xaRollback'>> = {
  START: 'xaStart',
  BEGIN: 'xaStart',
  END: 'xaEnd',
  COMMIT: 'xaCommit',
  ROLLBACK: 'xaRollback',
};

const SAVEPOINT = /^SAVEPOINT\s+(.*)$/is;
const ROLLBACK_TO = /^ROLLBACK\s+TO\s+(?:SAVEPOINT\s+)?(.*)$/is;

/** Comments and hints before the first word. */
const LEADING = /^(?:\s|\/\*[\s\S]*?\*\/|--[^\n]*\n|#[^\n]*\n)+/;

/** Statements that change rows: in the log as a statement, they have no rows to read. */
const CHANGES = /^(INSERT|REPLACE|UPDATE|DELETE|LOAD|CALL|SELECT|DO|WITH|HANDLER|TABLE|VALUES)\b/i;

export function readStatement(query: string): Statement {
  const text = query.replace(LEADING, '').trim();
  const control = CONTROL[text.toUpperCase()];
  if (control !== undefined) return { kind: control };
  const xa = XA.exec(text);
  if (xa !== null) {
    const kind = XA_KINDS[(xa[1] ?? '').toUpperCase()];
    if (kind !== undefined) return { kind, xid: canonicalXid(xa[2] ?? '') };
  }
  const rollbackTo = ROLLBACK_TO.exec(text);
  if (rollbackTo !== null) return { kind: 'rollbackTo', name: unquoted(rollbackTo[1] ?? '') };
  const savepoint = SAVEPOINT.exec(text);
  if (savepoint !== null) return { kind: 'savepoint', name: unquoted(savepoint[1] ?? '') };
  return CHANGES.test(text) ? { kind: 'change', text } : { kind: 'harmless' };
}

/** `X'6162',X'63',1 ONE PHASE` as one string, the same for each statement about one XA transaction. */
export function canonicalXid(text: string): string {
  return text
    .replace(/\s+(ONE\s+PHASE|SUSPEND.*|JOIN|RESUME)\s*$/i, '')
    .replaceAll(/\s/g, '')
    .toUpperCase();
}

function unquoted(name: string): string {
  return name
    .trim()
    .replace(/^`(.*)`$/s, '$1')
    .replaceAll('``', '`')
    .toLowerCase();
}
