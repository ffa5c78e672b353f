/** When a pack counts as read, and where its units ran. */
import { describe, expect, it } from 'vitest';

import type { Batch } from '../../../src/runners/index.ts';
import type { ToldEnd, WorkerRecord } from '../../../src/runners/records.ts';
import { isRead, takeRecord } from '../../../src/runners/slurm/packs.ts';
import { type Pack, roundOf } from '../../../src/runners/slurm/rounds.ts';

const PATIENCE = 20_000;
const ENDED = 1_000_000;

function pack(more: Partial<Pack> = {}, nodes = 1): Pack {
  const plan = { number: 0, attempt: 0, options: { nodes } as never, unitsPerPack: 2, parallel: 1, units: null };
  const batch = { folder: '/batch', total: 2, largestOutput: 1000 } as Batch;
  return { ...roundOf(plan, batch).packs[0]!, ...more };
}

const over = (kind: 'completed' | 'cancelled' = 'completed') => ({ job: 7, kind, since: ENDED });
const begun = { ran: true, started: new Map([[0, 'node 1']]) };

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

describe('a pack on two nodes', () => {
  const workerOn = (host: string) => ({ worker: 1, started: '1', boot: 'b', time: 1, host }) as WorkerRecord;
  const taker = {
    results: { keepUnit: async (end: ToldEnd) => end } as never,
    runsAgain: () => false,
    retry: () => false,
  };

  it('names for every unit the node of the worker that ran it, in whatever order they are heard', async () => {
    const both = pack({}, 2);
    const [one, other] = both.journals;
    const heard = [
      [one!, workerOn('one')],
      [other!, workerOn('other')],
      [one!, { start: 0, time: 2 }],
      [other!, { start: 1, time: 2 }],
      [one!, { end: 0, time: 3 } as ToldEnd],
      [other!, { end: 1, time: 3 } as ToldEnd],
    ] as const;
    const told = [];
    for (const [journal, record] of heard) told.push(...(await takeRecord(taker, both, journal, record)));
    expect(told).toMatchObject([
      { start: 0, node: 'one' },
      { start: 1, node: 'other' },
      { end: 0, node: 'one' },
      { end: 1, node: 'other' },
    ]);
    expect([...both.started]).toEqual([
      [0, 'one'],
      [1, 'other'],
    ]);
  });
});
