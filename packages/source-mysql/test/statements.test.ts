import { describe, expect, it } from 'vitest';
import { readStatement } from '../src/statements.js';

describe('a statement in the log', () => {
  it.each<[string, object]>([
    ['BEGIN', { kind: 'begin' }],
    ['begin', { kind: 'begin' }],
    ['START TRANSACTION', { kind: 'begin' }],
    ['COMMIT', { kind: 'commit' }],
    ['ROLLBACK', { kind: 'rollback' }],
    [' /* a hint */ COMMIT', { kind: 'commit' }],
    ['-- a remark\nROLLBACK', { kind: 'rollback' }],
    ['SAVEPOINT `a``b`', { kind: 'savepoint', name: 'a`b' }],
    ['ROLLBACK TO `S`', { kind: 'rollbackTo', name: 's' }],
    ['ROLLBACK TO SAVEPOINT s', { kind: 'rollbackTo', name: 's' }],
    ["XA START X'61',X'62',1", { kind: 'xaStart', xid: "X'61',X'62',1" }],
    ["xa end x'61', x'62', 1", { kind: 'xaEnd', xid: "X'61',X'62',1" }],
    ["XA COMMIT X'61',X'62',1 ONE PHASE", { kind: 'xaCommit', xid: "X'61',X'62',1" }],
    ["XA ROLLBACK X'61',X'62',1", { kind: 'xaRollback', xid: "X'61',X'62',1" }],
    ['CREATE TABLE t (a int)', { kind: 'harmless' }],
    ['ALTER TABLE outbox ADD x int', { kind: 'harmless' }],
    ['SET @a = 1', { kind: 'harmless' }],
    ['insertion', { kind: 'harmless' }],
  ])('%s', (text, statement) => {
    expect(readStatement(text)).toEqual(statement);
  });

  it.each([
    'INSERT INTO outbox VALUES (1)',
    'insert into outbox select * from t',
    '/* x */ REPLACE outbox VALUES (1)',
    'UPDATE t SET a = 1',
    'DELETE FROM t',
    'LOAD DATA INFILE "x" INTO TABLE outbox',
    'CALL fill_outbox()',
    'SELECT `shop`.`fill`()',
    'WITH x AS (SELECT 1) INSERT INTO outbox SELECT * FROM x',
  ])('changes rows: %s', (text) => {
    expect(readStatement(text).kind).toBe('change');
  });
});
