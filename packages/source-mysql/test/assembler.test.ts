import { describe, expect, it } from 'vitest';
import { Assembler, type AssemblerOptions, type PassedPlace } from '../src/assembler.js';
import { BeginEvent, XidEvent, type BinlogEvent, type RotateEvent } from '../src/binlog-events.js';
import { WHOLE } from '../src/position.js';

const SERVER = 'a-server';

function rotate(binlogName: string): BinlogEvent {
  const event: RotateEvent = {
    binlogName,
    position: 4,
    timestamp: 0,
    nextPosition: 0,
    size: 0,
    getTypeName: () => 'Rotate',
  };
  return event;
}

const heartbeat = (nextPosition: number): BinlogEvent => ({
  timestamp: 0,
  nextPosition,
  size: 0,
  getTypeName: () => 'Heartbeat',
});

/** An assembler without GTIDs, and the positions that it passes. */
function assemble(): { assembler: Assembler; passed: string[]; read: (bytes: number) => void } {
  let read = 0;
  const passed: string[] = [];
  const options: AssemblerOptions = {
    flavour: 'mysql',
    server: SERVER,
    schema: 'shop',
    table: 'outbox',
    gtids: false,
    reading: { start: { at: { file: 'log.1', offset: 4 }, executed: '' }, proven: null, behind: null },
    read: () => read,
    mapperFor: () => {
      throw new Error('There are no rows here.');
    },
    touchesOutbox: () => false,
    statement: () => undefined,
  };
  const assembler = new Assembler(options, {
    events: () => undefined,
    passed: (place: PassedPlace) => passed.push(place.position(WHOLE)),
    readAgain: () => undefined,
  });
  const account = (bytes: number): void => {
    read += bytes;
  };
  return { assembler, passed, read: account };
}

describe('without GTIDs', () => {
  it('the end of a transaction is where reading resumes', () => {
    const { assembler, passed, read } = assemble();
    assembler.event(rotate('log.1'));
    assembler.event(new BeginEvent(0, 200, 0));
    read(800);
    assembler.event(new XidEvent(0, 1_004, 0));
    expect(passed).toEqual([`${SERVER};log.1:1004;0;;;`]);
  });

  it.each([6_000_000_000, 2 ** 32 + 100, 2 ** 32 - 100])(
    'behind a transaction of %d bytes, whose end has wrapped around, it resumes at its start and leaves it out',
    (bytes) => {
      const { assembler, passed, read } = assemble();
      assembler.event(rotate('log.1'));
      assembler.event(new BeginEvent(0, 200, 0));
      read(bytes);
      assembler.event(new XidEvent(0, (4 + bytes) % 2 ** 32, 0));
      assembler.event(heartbeat((4 + bytes) % 2 ** 32));
      assembler.event(heartbeat(((4 + bytes) % 2 ** 32) + 60));
      expect(passed).toEqual([`${SERVER};log.1:4;${String(WHOLE)};;;`]);
      assembler.event(rotate('log.2'));
      assembler.event(new BeginEvent(0, 200, 0));
      read(300);
      assembler.event(new XidEvent(0, 400, 0));
      expect(passed.at(-1)).toBe(`${SERVER};log.2:400;0;;;`);
    },
  );
});
