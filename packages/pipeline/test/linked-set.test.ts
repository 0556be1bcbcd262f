import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LinkedSet, type Linked } from '../src/linked-set.js';

class Member implements Linked<Member> {
  older: Member | null = null;
  newer: Member | null = null;

  constructor(readonly name: number) {}
}

describe('a linked set', () => {
  it('has what was added and not removed, in the order of adding, as a Set has', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5)), (steps) => {
        const members = Array.from({ length: 6 }, (_, name) => new Member(name));
        const linked = new LinkedSet<Member>();
        const set = new Set<Member>();
        for (const step of steps) {
          const member = members[step];
          if (member === undefined) continue;
          if (set.delete(member)) {
            linked.remove(member);
          } else {
            set.add(member);
            linked.add(member);
          }
          expect([...linked]).toEqual([...set]);
        }
      }),
    );
  });

  it('goes on behind a member that is removed while it is looked at', () => {
    const linked = new LinkedSet<Member>();
    for (let name = 0; name < 4; name += 1) linked.add(new Member(name));
    const seen: number[] = [];
    for (const member of linked) {
      seen.push(member.name);
      linked.remove(member);
    }
    expect(seen).toEqual([0, 1, 2, 3]);
    expect([...linked]).toEqual([]);
  });
});
