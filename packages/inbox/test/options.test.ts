import { describe, expect, it } from 'vitest';
import { validate } from '../src/options.js';

describe('the options of an inbox', () => {
  it('have defaults', () => {
    expect(validate({})).toEqual({
      name: null,
      table: { schema: null, name: 'strandline_inbox' },
      create: true,
      keep: 86_400_000,
    });
  });

  it('name a table, or one in a schema, as it is', () => {
    expect(validate({ table: 'My Inbox' }).table).toEqual({ schema: null, name: 'My Inbox' });
    expect(validate({ table: 'shop.in"box' }).table).toEqual({ schema: 'shop', name: 'in"box' });
  });

  it.each([
    ['name', { name: 'Shop' }],
    ['name', { name: '' }],
    ['table', { table: '' }],
    ['table', { table: 'a.b.c' }],
    ['table', { table: 'x'.repeat(51) }],
    ['keep', { keep: 999 }],
    ['keep', { keep: Infinity }],
    ['create', { create: 'yes' as unknown as boolean }],
  ])('are refused by name: %s of %o', (field, options) => {
    expect(() => validate(options)).toThrow(expect.objectContaining({ code: 'INBOX_CONFIG' }));
    expect(() => validate(options)).toThrow(`inbox.${field} is`);
  });

  it('that do not exist are refused', () => {
    expect(() => validate({ kept: 5 } as object)).toThrow(expect.objectContaining({ code: 'INBOX_CONFIG' }));
  });
});
