import { describe, expect, it } from 'vitest';
import { identityOf } from '../src/event-identity.js';
import { event } from './fixtures.js';

describe('the identity of an event', () => {
  const given = event('k', 7);

  it('is the same at each delivery, whatever its position is called then', () => {
    expect(identityOf({ ...given, position: 'elsewhere' })).toEqual(identityOf(given));
  });

  it('tells the same id in another transaction, or at another place in it, from it', () => {
    const { transaction } = given;
    const others = [
      { ...given, transaction: { ...transaction, id: '8' } },
      { ...given, transaction: { ...transaction, ordinal: 2 } },
      { ...given, id: '8' },
      { ...given, table: 'shop.outbox' },
    ];
    for (const other of others) expect(identityOf(other)).not.toEqual(identityOf(given));
  });

  it('of a row of the start snapshot is its id: read on after a crash it counts anew', () => {
    const row = { ...given, position: 'snapshot:["7"]' };
    const again = { ...row, transaction: { ...row.transaction, id: '9', ordinal: 3 } };
    expect(identityOf(again)).toEqual(identityOf(row));
  });
});
