import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createSlots, equalParts, type Share } from '../../src/runners/slots.ts';

describe('equal parts', () => {
  it.each([
    [12, [5], [5]],
    [12, [100, 100], [6, 6]],
    [12, [1, 100, 100], [1, 6, 5]],
    [12, [100, 3, 2], [7, 3, 2]],
    [2, [9, 9, 9], [1, 1, 0]],
    [2, [0, 9, 9], [0, 1, 1]],
    [3, [], []],
    [4, [Infinity, 1], [3, 1]],
  ])('of %d for %j are %j', (total, wanted, parts) => {
    expect(equalParts(total, wanted)).toEqual(parts);
  });

  it('give everything that is wanted or there is, and nobody gets less than another who wants no more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 50 }), fc.array(fc.integer({ min: 0, max: 30 })), (total, wanted) => {
        const parts = equalParts(total, wanted);
        const sum = (values: number[]) => values.reduce((one, other) => one + other, 0);
        expect(sum(parts)).toBe(Math.min(total, sum(wanted)));
        for (const [index, part] of parts.entries()) {
          expect(part).toBeLessThanOrEqual(wanted[index]!);
          // who wants more than it has got has at most one less than anybody
          if (part < wanted[index]!) expect(Math.max(...parts)).toBeLessThanOrEqual(part + 1);
        }
      }),
    );
  });
});

/** A batch whose worker obeys after a while, as real ones do. */
interface Batch {
  share: Share;
  running: number;
  obeyed: number;
  remaining: number;
}

const report = ({ share, running, obeyed, remaining }: Batch) => share.update({ running, obeyed, remaining });

describe('slots', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('are never given to two: whatever happens, no more units run than there are slots', () => {
    const step = fc.record({ what: fc.constantFrom('enter', 'obey', 'start', 'end', 'turn'), which: fc.nat(9) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 200 }), (total, steps) => {
        const slots = createSlots(total);
        const batches: Batch[] = [];
        for (const { what, which } of steps) {
          if (what === 'turn') vi.advanceTimersByTime(2000);
          if (what === 'enter') {
            const remaining = which + 1;
            const share = slots.enter({ width: which % 3 === 0 ? 2 : null, total: remaining, onChange: () => {} });
            batches.push({ share, running: 0, obeyed: 0, remaining });
          }
          const batch = batches[which % Math.max(1, batches.length)];
          if (!batch) continue;
          if (what === 'obey') batch.obeyed = batch.share.granted;
          if (what === 'start' && batch.running < Math.min(batch.obeyed, batch.remaining)) batch.running += 1;
          if (what === 'end' && batch.running > 0) {
            batch.running -= 1;
            batch.remaining -= 1;
          }
          // the journal comes later than what it tells of, and in order
          report(batch);
          expect(batches.reduce((sum, { running }) => sum + running, 0)).toBeLessThanOrEqual(total);
        }
      }),
    );
  });

  it('are shared with who comes later, as units end', () => {
    const slots = createSlots(4);
    const enter = (total: number): Batch => ({
      share: slots.enter({ width: null, total, onChange: () => {} }),
      running: 0,
      obeyed: 0,
      remaining: total,
    });
    const first = enter(1000);
    expect(first.share.granted).toBe(4);
    first.running = first.obeyed = 4;
    report(first);
    const second = enter(3);
    expect([first.share.granted, second.share.granted]).toEqual([2, 0]);
    first.obeyed = 2;
    report(first);
    expect(second.share.granted).toBe(0);
    first.running = 3;
    report(first);
    expect(second.share.granted).toBe(1);
    first.running = 2;
    report(first);
    expect(second.share.granted).toBe(2);
    second.share.leave();
    expect(first.share.granted).toBe(4);
  });

  it('are taken in turns by more batches than there are slots', () => {
    const slots = createSlots(1);
    const batches = [0, 1, 2].map((): Batch => {
      const share = slots.enter({ width: null, total: 100, onChange: () => {} });
      return { share, running: 0, obeyed: 0, remaining: 100 };
    });
    const turns = new Set<number>();
    for (let round = 0; round < 30; round++) {
      for (const [index, batch] of batches.entries()) {
        batch.obeyed = batch.share.granted;
        if (batch.share.granted > 0) turns.add(index);
        report(batch);
      }
      vi.advanceTimersByTime(2000);
    }
    expect(turns.size).toBe(3);
  });

  it('stay where they are while nobody else needs them', () => {
    const slots = createSlots(4);
    let changes = 0;
    const share = slots.enter({ width: null, total: 10, onChange: () => (changes += 1) });
    for (let remaining = 10; remaining > 0; remaining--) share.update({ running: 1, obeyed: 4, remaining });
    expect(changes).toBe(1);
  });
});
