/** When a pack counts as read, and where its units ran. */
import { describe, expect, it } from 'vitest';

import type { Batch } from '../../../src/runners/index.ts';
import { recordIn, type ToldEnd, type WorkerRecord } from '../../../src/runners/records.ts';
import { isRead, takeRecord } from '../../../src/runners/slurm/packs.ts';
import { type Pack, roundOf } from '../../../src/runners/slurm/rounds.ts';
import { endRecord } from '../batch.ts';

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

/** As it is read from a journal. */
function told(record: object): WorkerRecord {
  const read = recordIn(JSON.stringify(record));
  if (!read) throw new Error('No worker writes this.');
  return read;
}
const workerOn = (host: string) => told({ worker: 1, started: '1', boot: 'b', time: 1, host });
const startOf = (start: number) => told({ start, time: 2 });
const endOf = (end: number, more: Partial<ToldEnd> = {}) => told(endRecord(end, more));
const taker = {
  results: { keepUnit: async (end: ToldEnd) => end } as never,
  runsAgain: () => false,
  retry: () => false,
};

describe('a pack on two nodes', () => {
  it('names for every unit the node of the worker that ran it, in whatever order they are heard', async () => {
    const both = pack({}, 2);
    const [one, other] = both.journals;
    const heard = [
      [one!, workerOn('one')],
      [other!, workerOn('other')],
      [one!, startOf(0)],
      [other!, startOf(1)],
      [one!, endOf(0)],
      [other!, endOf(1)],
    ] as const;
    const passedOn = [];
    for (const [journal, record] of heard) passedOn.push(...(await takeRecord(taker, both, journal, record)));
    expect(passedOn).toMatchObject([
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

it('of a unit whose end waits for what the scheduler says, the output is not kept in memory', async () => {
  const one = pack();
  const [journal] = one.journals;
  const output = '{"image_list_updates": []}';
  await takeRecord(taker, one, journal!, startOf(0));
  const stopped = endOf(0, { stopped: true, signal: 15, output, output_bytes: output.length });
  expect(await takeRecord(taker, one, journal!, stopped)).toEqual([]);
  expect(one.held).toMatchObject([{ end: 0, stopped: true, output: null, output_bytes: output.length }]);
});
