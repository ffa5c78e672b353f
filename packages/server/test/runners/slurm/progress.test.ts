/** What of a batch on a cluster waits in memory until the job hears of it. */
import { mkdirSync } from 'node:fs';

import { afterAll, expect, it } from 'vitest';

import type { JournalRecord } from '../../../src/runners/index.ts';
import { openLedger } from '../../../src/runners/slurm/ledger.ts';
import { openProgress } from '../../../src/runners/slurm/progress.ts';
import { openResults } from '../../../src/runners/slurm/results.ts';
import { openUnits } from '../../../src/runners/slurm/rounds.ts';
import { optionsFor } from '../../engine/slurm/support.ts';
import { cleanUp, endRecord, newFolder, smallBatch } from '../batch.ts';

afterAll(cleanUp);

const UNITS = 30;
/** Each alone is short enough to wait. */
const LONG = 100_000;

/** Of a unit that said so much. */
const linesOf = (number: number) => [
  { start: number, time: 1 },
  endRecord(number, { output: ' '.repeat(LONG), output_bytes: LONG }),
];

it('many outputs that are long together do not wait for each other', async () => {
  const plan = { options: optionsFor(), unitsPerPack: UNITS, parallel: 1 };
  const units = Array.from({ length: UNITS }, (_, number) => ({ number, stem: `unit-${number}`, args: '{}' }));
  const batch = {
    ...smallBatch(newFolder()),
    ...{ largestOutput: LONG, total: UNITS, units: () => units },
    cluster: { plan, taskFolder: '/t', inputs: '/in', outputs: '/out', cacheDir: null },
  };
  mkdirSync(batch.folder);
  const index = await openUnits(batch);
  try {
    const heard: JournalRecord[][] = [];
    const progress = openProgress({
      batch,
      ledger: openLedger(batch.folder),
      results: await openResults(batch.taskFolder, index),
      following: {
        onRecords: (records) => void heard.push(records),
        stop: new AbortController().signal,
        leave: new AbortController().signal,
      },
    });
    progress.begin({ ...plan, number: 0, attempt: 0, units: null });
    const lines = units.flatMap(({ number }) => linesOf(number)).map((record) => `${JSON.stringify(record)}\n`);
    await progress.take('r0-000000.jsonl', { offset: 0, data: Buffer.from(lines.join('')) });
    await progress.report();
    const ends = heard.map((records) => records.filter((record) => 'end' in record).length);
    expect(ends).toEqual([11, 11, 8]);
  } finally {
    await index.close();
  }
});
