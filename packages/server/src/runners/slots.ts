/**
 * Shares the slots of this machine between the batches of all jobs: never more units than slots, and nobody starves.
 *
 * Each batch gets an equal part, or less when it needs less. When there are more batches than slots, they take turns. A
 * batch that has to give slots back keeps those that its running units hold; what it was granted counts until its worker
 * says that it obeys the smaller number.
 */
import { guarded, ignored } from '../guard.ts';

const TURN_MS = 2000;

export interface Share {
  /** How many units may run now. */
  granted: number;
  /** What is known of the batch: units that run, what its worker obeys or may come to obey, units that have not ended. */
  update(known: { running: number; obeyed: number; remaining: number }): void;
  leave(): void;
}

interface Member extends Share {
  width: number;
  running: number;
  obeyed: number;
  remaining: number;
  onChange: () => void;
}

export interface Slots {
  /** `width` is the most that the batch wants at a time; `onChange` is called when `granted` became another. */
  enter(batch: { width: number | null; total: number; onChange: () => void }): Share;
}

/** What each of several should have: equal parts of the whole, nobody more than it wants. Earlier ones first. */
export function equalParts(total: number, wanted: number[]): number[] {
  const parts = wanted.map(() => 0);
  let left = total;
  while (left > 0) {
    const open = wanted.flatMap((want, index) => (parts[index]! < want ? [index] : []));
    if (open.length === 0) break;
    const each = Math.floor(left / open.length);
    if (each === 0) {
      for (const index of open.slice(0, left)) parts[index]! += 1;
      break;
    }
    for (const index of open) {
      const more = Math.min(each, wanted[index]! - parts[index]!);
      parts[index]! += more;
      left -= more;
    }
  }
  return parts;
}

export function createSlots(total: number): Slots {
  let members: Member[] = [];
  let turn: NodeJS.Timeout | undefined;

  const wants = (member: Member) => Math.min(member.width, member.remaining);
  const holds = (member: Member) => Math.max(member.granted, member.obeyed, member.running);

  function share(): void {
    const parts = equalParts(total, members.map(wants));
    const before = members.map((member) => member.granted);
    const needed = members.some((member, index) => parts[index]! > member.granted);
    // what nobody else needs may stay where it is
    if (needed)
      for (const [index, member] of members.entries()) member.granted = Math.min(member.granted, parts[index]!);
    let free = total - members.reduce((sum, member) => sum + holds(member), 0);
    for (const [index, member] of members.entries()) {
      // slots that the batch still holds may be granted to it again, whether or not others are free
      const more = Math.min(parts[index]! - member.granted, holds(member) - member.granted + Math.max(0, free));
      if (more <= 0) continue;
      const held = holds(member);
      member.granted += more;
      free -= holds(member) - held;
    }
    takeTurns(parts.some((part, index) => part === 0 && wants(members[index]!) > 0));
    for (const [index, member] of members.entries()) if (member.granted !== before[index]) member.onChange();
  }

  function takeTurns(crowded: boolean): void {
    if (crowded === (turn !== undefined)) return;
    clearInterval(turn);
    turn = undefined;
    if (!crowded) return;
    const nextTurn = () => {
      members = [...members.slice(total), ...members.slice(0, total)];
      share();
    };
    turn = setInterval(guarded(nextTurn, ignored), TURN_MS);
    turn.unref();
  }

  return {
    enter({ width, total: remaining, onChange }) {
      const member: Member = {
        width: width ?? Infinity,
        granted: 0,
        running: 0,
        obeyed: 0,
        remaining,
        onChange,
        update(known) {
          Object.assign(member, known);
          share();
        },
        leave() {
          members = members.filter((other) => other !== member);
          share();
        },
      };
      members.push(member);
      share();
      return member;
    },
  };
}
