import { describe, expect, it } from 'vitest';

import { executorError } from '../../../src/engine/slurm/executor-error.ts';

describe('what Slurm had to say', () => {
  it.each<[string, string | null]>([
    ['', null],
    [' \n\n', null],
    ['one\n', 'one'],
    ['one', 'one'],
    ['one\ntwo\n', 'one\n\ntwo'],
    ['one\n\ntwo\n', 'one\n\n\n\ntwo'],
    ['one\r\ntwo\r\n', 'one\n\ntwo'],
    ['  one\n', 'one'],
    ['srun: Job 7 step creation temporarily disabled, retrying (Requested nodes are busy)\n', null],
    ['srun: Job 7 step creation still disabled, retrying\nsrun: Step created for StepId=7.0\n', null],
    ['SRUN: STEP CREATED FOR STEPID=7.0\nslurmstepd: error: x\n', 'slurmstepd: error: x'],
    ["srun: warning: can't run 1 processes on 2 nodes, setting nnodes to 1\na\n", 'a'],
    ["a\nsrun: Warning: can't run 1 processes on 2 nodes\nb\n", 'a\n\nb'],
    ["srun: warning: can't run 2 processes on 3 nodes", "srun: warning: can't run 2 processes on 3 nodes"],
    ['a\0b\ud800c\n\0', 'abc'],
  ])('%j: %j', (stderr, text) => {
    expect(executorError(stderr)).toBe(text);
  });
});
