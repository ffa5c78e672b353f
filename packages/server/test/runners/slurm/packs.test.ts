/** When a pack counts as read. */
import { describe, expect, it } from 'vitest';

import type { Batch } from '../../../src/runners/index.ts';
import { isRead } from '../../../src/runners/slurm/packs.ts';
import { type Pack, roundOf } from '../../../src/runners/slurm/rounds.ts';

const PATIENCE = 20_000;
const ENDED = 1_000_000;

function pack(more: Partial<Pack> = {}): Pack {
  const plan = { number: 0, attempt: 0, options: {} as never, unitsPerPack: 2, parallel: 1, units: null };
  const batch = { folder: '/batch', total: 2, largestOutput: 1000 } as Batch;
  return { ...roundOf(plan, batch).packs[0]!, ...more };
}

const over = (kind: 'completed' | 'cancelled' = 'completed') => ({ job: 7, kind, since: ENDED });
const begun = { ran: true, started: new Map([[0, 1]]) };

describe('a pack is read', () => {
  it.each<[boolean, string, Partial<Pack>]>([
    [false, 'not while its job goes on', { lookedAt: ENDED + PATIENCE }],
    [false, 'not when its job is over and nobody has looked since, however long ago', { ...begun, over: over() }],
    [false, 'not when somebody looked too early', { ...begun, over: over(), lookedAt: ENDED + PATIENCE - 1 }],
    [
      true,
      'when somebody looked late enough and found no more',
      { ...begun, over: over(), lookedAt: ENDED + PATIENCE },
    ],
    [true, 'at once when it was cancelled before it had a node', { over: over('cancelled') }],
    [false, 'not at once when it was cancelled at work', { ...begun, over: over('cancelled') }],
    [
      false,
      'not while its worker says that another job has it, and the queue has not been asked',
      { ...begun, over: over(), lookedAt: ENDED + PATIENCE, claimed: 8 },
    ],
  ])('%s: %s', (expected, _, more) => {
    expect(isRead(pack(more), PATIENCE)).toBe(expected);
  });

  it('at once when its worker said that it had finished', () => {
    const finished = pack({ over: over() });
    for (const journal of finished.journals) journal.finished = true;
    expect(isRead(finished, PATIENCE)).toBe(true);
  });
});
