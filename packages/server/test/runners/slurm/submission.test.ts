/** What becomes of a round of which the scheduler takes one array and refuses the next. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, expect, it } from 'vitest';

import type { JournalRecord } from '../../../src/runners/index.ts';
import { createSlurmRunner } from '../../../src/runners/slurm/runner.ts';
import { optionsFor } from '../../engine/slurm/support.ts';
import { standIn } from '../../slurm/support.ts';
import { until } from '../../support/until.ts';
import { cleanUp, newFolder, smallBatch } from '../batch.ts';

afterAll(cleanUp);

/** More than one array has. */
const UNITS = 1001;
const LIMIT = 'sbatch: error: Batch job submission failed: Job violates accounting/QOS policy';
const AWAY = 'scancel: error: Unable to contact slurm controller (connect failure)';

/** Takes one array, and nothing more before there is a file `takes-all`. */
const SBATCH = `
if test -e "$FOLDER/taken" && ! test -e "$FOLDER/takes-all"; then echo "${LIMIT}" >&2; exit 1; fi
touch "$FOLDER/taken"; echo 12`;
/** Does not reach the controller before there is a file `answers`, or when it is asked for the first time. */
const SCANCEL = `
test -e "$FOLDER/answers" && exit 0
echo "${AWAY}" >&2; exit 1`;
const SCANCEL_AT_LAST = `
test -e "$FOLDER/asked-before" && exit 0
touch "$FOLDER/asked-before"; echo "${AWAY}" >&2; exit 1`;

function open(scancel: string) {
  const slurm = standIn({ sbatch: SBATCH, scancel, squeue: 'exit 0', sacct: 'exit 0' });
  const root = newFolder();
  const units = Array.from({ length: UNITS }, (_, number) => ({ number, stem: `unit-${number}`, args: '{}' }));
  const batch = {
    ...smallBatch(root),
    ...{ total: UNITS, units: () => units },
    cluster: {
      plan: { options: optionsFor(), unitsPerPack: 1, parallel: 1 },
      ...{ taskFolder: join(root, 'there'), inputs: join(root, 'in'), outputs: join(root, 'out'), cacheDir: null },
    },
  };
  const runner = createSlurmRunner({ ...slurm.client, python: '/usr/bin/python3', pollMs: 500, lateFileMs: 0 });
  const heard: JournalRecord[] = [];
  const run = (leave = new AbortController().signal) =>
    runner.run(batch, {
      onRecords: (records) => void heard.push(...records),
      ...{ stop: new AbortController().signal, leave },
    });
  const expectRefused = () => {
    expect(heard).toHaveLength(UNITS);
    expect(heard[0]).toMatchObject({ end: 0, problem: expect.stringContaining('policy') as string });
  };
  return { slurm, root, batch, runner, heard, run, expectRefused };
}

it('the scheduler has heard that the first one is to end before the round is given up', async () => {
  const { slurm, run, expectRefused } = open(SCANCEL_AT_LAST);
  expect(await run()).toBe('finished');
  expect(slurm.asked('scancel')).toEqual(['scancel 12', 'scancel 12']);
  expectRefused();
});

it('an interruption meanwhile changes nothing, and nothing is submitted again', async () => {
  const { slurm, run, heard, expectRefused } = open(SCANCEL);
  const leave = new AbortController();
  const left = run(leave.signal);
  await until('the first question', () => slurm.asked('scancel').length > 0);
  leave.abort();
  expect(await left).toBe('left');
  expect(heard).toEqual([]);
  for (const name of ['answers', 'takes-all']) slurm.add(name, '');
  expect(await run()).toBe('finished');
  expect([slurm.asked('sbatch').length, new Set(slurm.asked('scancel'))]).toEqual([2, new Set(['scancel 12'])]);
  expectRefused();
});

it('a round that was given up is not submitted again, and is ended with the rest of the job', async () => {
  const { slurm, root, batch, runner, run } = open(SCANCEL);
  slurm.add('answers', '');
  expect(await run()).toBe('finished');
  expect(await run()).toBe('finished');
  const count = () => ['sbatch', 'scancel'].map((name) => slurm.asked(name).length);
  expect(count()).toEqual([2, 1]);
  expect(readFileSync(join(batch.folder, 'ledger.jsonl'), 'utf8')).toContain('"done":true');
  await runner.end(root);
  expect(count()).toEqual([2, 2]);
});
