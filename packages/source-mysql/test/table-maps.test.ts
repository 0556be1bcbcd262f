import { describe, expect, it } from 'vitest';
import type { BinlogEvent, TableMapEvent } from '../src/binlog-events.js';
import { TableMaps } from '../src/table-maps.js';

/** What the library has under a table's id, and the event that it hands out. */
function mapOf(tableId: number, rest: string): { bytes: Buffer; event: TableMapEvent; made: object } {
  const bytes = Buffer.concat([Buffer.alloc(6), Buffer.from(rest)]);
  bytes.writeUIntLE(tableId, 0, 6);
  const event = { tableId, getTypeName: () => 'TableMap' } as unknown as TableMapEvent;
  return { bytes, event, made: {} };
}

const other = { getTypeName: () => 'WriteRows' } as BinlogEvent;

describe('a table map that was read before', () => {
  it('is told again when the same bytes come', () => {
    const maps = new TableMaps();
    const { bytes, event, made } = mapOf(7, 'outbox');
    const library = { 7: made };
    expect(maps.find(bytes, 0, bytes.length, library)).toBeNull();
    maps.expect(bytes, 0, bytes.length);
    maps.read(event, library);
    const elsewhere = Buffer.concat([Buffer.from('xx'), bytes, Buffer.from('yyyy')]);
    expect(maps.find(elsewhere, 2, 2 + bytes.length, library)).toBe(event);
  });

  it('is read again when a byte differs, or there are more', () => {
    const maps = new TableMaps();
    const { bytes, event, made } = mapOf(7, 'outbox');
    maps.expect(bytes, 0, bytes.length);
    maps.read(event, { 7: made });
    for (const changed of [mapOf(8, 'outbox'), mapOf(7, 'outboy'), mapOf(7, 'outbox2')])
      expect(maps.find(changed.bytes, 0, changed.bytes.length, { 7: made, 8: made })).toBeNull();
  });

  it('is read again when the library has another table, or none, under its id', () => {
    const maps = new TableMaps();
    const { bytes, event, made } = mapOf(7, 'outbox');
    maps.expect(bytes, 0, bytes.length);
    maps.read(event, { 7: made });
    expect(maps.find(bytes, 0, bytes.length, { 7: {} })).toBeNull();
    expect(maps.find(bytes, 0, bytes.length, {})).toBeNull();
  });

  it('is not mixed up with one that the library left out, nor with another event', () => {
    const maps = new TableMaps();
    const filtered = mapOf(3, 'customers');
    const { bytes, event, made } = mapOf(7, 'outbox');
    maps.expect(bytes, 0, bytes.length);
    maps.read(other, { 7: made });
    maps.read(event, { 7: made });
    maps.expect(filtered.bytes, 0, filtered.bytes.length);
    maps.read(other, { 7: made });
    expect(maps.find(bytes, 0, bytes.length, { 7: made })).toBe(event);
    expect(maps.find(filtered.bytes, 0, filtered.bytes.length, { 3: made, 7: made })).toBeNull();
  });

  it('does not change with the buffer that its bytes came in', () => {
    const maps = new TableMaps();
    const { bytes, event, made } = mapOf(7, 'outbox');
    const kept = Buffer.from(bytes);
    maps.expect(bytes, 0, bytes.length);
    maps.read(event, { 7: made });
    bytes.fill(0);
    expect(maps.find(kept, 0, kept.length, { 7: made })).toBe(event);
  });
});
