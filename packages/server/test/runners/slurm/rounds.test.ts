/** What a batch on a cluster keeps in its folders, also when the service is updated while it runs. */
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, expect, it } from 'vitest';

import { openLedger } from '../../../src/runners/slurm/ledger.ts';
import { openUnits, roundOf, workerFileOf, writeRound } from '../../../src/runners/slurm/rounds.ts';
import { workerArchive } from '../../../src/runners/worker-archive.ts';
import { optionsFor } from '../../engine/slurm/support.ts';
import { cleanUp, newFolder, smallBatch } from '../batch.ts';

afterAll(cleanUp);

async function writtenRound() {
  const batch = {
    ...smallBatch(newFolder()),
    cluster: {
      plan: { options: optionsFor(), unitsPerPack: 1, parallel: 1 },
      ...{ taskFolder: '/t', inputs: '/in', outputs: '/out', cacheDir: null },
    },
  };
  mkdirSync(batch.folder);
  const plan = { number: 0, attempt: 0, units: null, ...batch.cluster.plan };
  const units = await openUnits(batch);
  await writeRound(batch, plan, units);
  await units.close();
  return roundOf(plan, batch);
}

it('a round has the worker in its folder, for everybody to read', async () => {
  const round = await writtenRound();
  const path = join(round.folder, workerFileOf(round));
  expect(path).toBe(join(round.folder, 'worker.pyz'));
  expect(readFileSync(path).equals(workerArchive())).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o644);
});

it('arguments keep characters at which others end a line, and the units after them are found', async () => {
  const folder = newFolder();
  const args = ['{"a": "one\u2028two\u2029three\u0085"}', `{"b": "${'µ\u2028'.repeat(50_000)}"}`, '{"c": 3}'];
  const units = args.map((text, number) => ({ number, stem: `unit-${number}`, args: text }));
  const batch = { ...smallBatch(folder), total: units.length, units: () => units };
  mkdirSync(batch.folder);
  const index = await openUnits(batch);
  try {
    const read = await Promise.all(units.map(async ({ number }) => JSON.parse(await index.line(number)) as unknown));
    expect(read).toEqual(units);
    expect(units.map(({ number }) => index.stem(number))).toEqual(['unit-0', 'unit-1', 'unit-2']);
  } finally {
    await index.close();
  }
});

it('a round that was written before an update of the service goes on with the worker that it has', async () => {
  const round = await writtenRound();
  renameSync(join(round.folder, 'worker.pyz'), join(round.folder, 'worker.py'));
  expect(workerFileOf(round)).toBe('worker.py');
});

it('ends of units that were kept before an update of the service have the names of now', () => {
  const folder = join(newFolder(), 'batch');
  mkdirSync(folder);
  const end = { end: 3, time: 1, exit_code: null, signal: 9, output: null };
  const kept = { settled: 'r0-000000', ends: [{ ...end, cpu: 1.5, memory: 7, warnings: 2, memory_limit: 8 }] };
  writeFileSync(join(folder, 'memory.jsonl'), `${JSON.stringify(kept)}\n`);
  expect(openLedger(folder).entries).toMatchObject([
    { ends: [{ ...end, cpu_seconds: 1.5, peak_memory_bytes: 7, num_warnings: 2, memory_limit_bytes: 8 }] },
  ]);
});
