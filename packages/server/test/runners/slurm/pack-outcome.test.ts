/** What becomes of the units of a scheduler job that is over. */
import { describe, expect, it } from 'vitest';

import { unitFailure } from '../../../src/engine/failures.ts';
import type { UnitEnd } from '../../../src/runners/index.ts';
import { type EndedPack, outcomeOf, unbegun } from '../../../src/runners/slurm/pack-outcome.ts';

const NOW = 1_800_000_000;
const stoppedEnd = (number: number, more: Partial<UnitEnd> = {}): UnitEnd => ({
  ...unbegun(number, NOW, ''),
  problem: null,
  stopped: true,
  signal: 15,
  ...more,
});

/** Four units: 0 is done, 1 was told to stop, 2 began and left nothing, 3 never began. */
const outcome = (more: Partial<EndedPack>): EndedPack => ({
  kind: 'completed',
  units: [0, 1, 2, 3],
  started: new Map([0, 1, 2].map((number) => [number, 'node 1'])),
  ended: new Set([0]),
  held: [stoppedEnd(1)],
  stopped: false,
  errors: '',
  now: NOW,
  retries: () => false,
  ...more,
});

const causes = (more: Partial<EndedPack>) => {
  const { ends, again } = outcomeOf(outcome(more));
  return {
    ...Object.fromEntries(
      ends.map((end) => [end.end, unitFailure({ ...end, output_problem: null }).cause] as [number, string]),
    ),
    ...Object.fromEntries(again.map(({ number, why }) => [number, `again: ${why}`])),
  };
};

describe('a scheduler job that ended because', () => {
  it.each<[string, Partial<EndedPack>, object]>([
    ['of its time limit', { kind: 'time_limit' }, { 1: 'time_limit', 2: 'time_limit', 3: 'again: unstarted' }],
    ['of its memory', { kind: 'memory' }, { 1: 'memory', 2: 'memory', 3: 'again: unstarted' }],
    ['its node failed', { kind: 'node' }, { 1: 'lost', 2: 'lost', 3: 'again: unstarted' }],
    ['it was preempted', { kind: 'preempted' }, { 1: 'lost', 2: 'lost', 3: 'again: unstarted' }],
    ['somebody cancelled it', { kind: 'cancelled' }, { 1: 'stopped', 2: 'stopped', 3: 'stopped' }],
    ['the worker was killed', { kind: 'failed' }, { 1: 'signal', 2: 'lost', 3: 'again: unstarted' }],
    ['nobody knows why', { kind: 'gone' }, { 1: 'lost', 2: 'lost', 3: 'again: unstarted' }],
    ['the service stopped it', { kind: 'cancelled', stopped: true }, { 1: 'stopped', 2: 'stopped' }],
    [
      'of its time limit, with another attempt',
      { kind: 'time_limit', retries: (cause) => cause === 'time_limit' },
      { 1: 'again: time_limit', 2: 'again: time_limit', 3: 'again: unstarted' },
    ],
    [
      'of its memory, with another attempt',
      { kind: 'memory', retries: (cause) => cause === 'memory' },
      { 1: 'again: memory', 2: 'again: memory', 3: 'again: unstarted' },
    ],
    [
      'of its memory while the service stops it',
      { kind: 'memory', stopped: true, retries: () => true },
      { 1: 'stopped', 2: 'stopped' },
    ],
  ])('%s', (_, more, expected) => {
    expect(causes(more)).toEqual(expected);
  });
});

describe('a scheduler job in which nothing began', () => {
  const nothing = { started: new Map(), ended: new Set<number>(), held: [] };
  it.each<[EndedPack['kind'], string]>([
    ['failed', 'start'],
    ['completed', 'start'],
    ['gone', 'start'],
    ['time_limit', 'time_limit'],
    ['memory', 'memory'],
    ['cancelled', 'stopped'],
  ])('and which ended as %s fails its units: trying again would end the same', (kind, cause) => {
    expect(causes({ ...nothing, kind })).toEqual({ 0: cause, 1: cause, 2: cause, 3: cause });
  });

  it.each<EndedPack['kind']>(['node', 'preempted', 'boot'])(
    'through no fault of theirs (%s) is tried again',
    (kind) => {
      const again = 'again: unstarted';
      expect(causes({ ...nothing, kind })).toEqual({ 0: again, 1: again, 2: again, 3: again });
    },
  );

  it('tells what the job wrote to its error stream', () => {
    const { ends } = outcomeOf(outcome({ ...nothing, kind: 'failed', errors: 'module: command not found\n' }));
    expect(ends[0]!.problem).toMatch(/module: command not found$/);
  });
});

it('an exit code that a program gives when it is told to end is not its own', () => {
  const { ends } = outcomeOf(outcome({ kind: 'time_limit', held: [stoppedEnd(1, { signal: null, exit_code: 0 })] }));
  expect(unitFailure({ ...ends[0]!, output_problem: null })).toMatchObject({ cause: 'time_limit' });
});
