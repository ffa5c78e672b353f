/** A worker that one process of the service started is found by the next one, however long it takes to say something. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { localHost } from '../packages/server/src/hosts/index.ts';
import { createLocalRunner } from '../packages/server/src/runners/index.ts';
import { writeBatch, writeWorker } from '../packages/server/src/runners/batch.ts';
import { smallBatch } from '../packages/server/test/runners/batch.ts';
import { remove, temporaryFolder } from './support/processes.ts';

const LINES = 500_000;

it('a worker that has a long journal to read is waited for, and not started in vain until the job fails', async () => {
  const root = temporaryFolder('handover');
  const batch = smallBatch(root);
  await writeBatch(batch);
  writeFileSync(join(batch.folder, 'journal.jsonl'), '{"slots": 1}\n'.repeat(LINES));
  const first = spawn('python3', ['-I', '-S', await writeWorker(batch.folder), batch.folder], { stdio: 'ignore' });
  const ended = new Promise((resolve) => first.once('exit', resolve));
  try {
    const said: object[] = [];
    const never = new AbortController().signal;
    const runner = createLocalRunner({ host: localHost, slots: 1 });
    const outcome = await runner.with('python3').run(batch, {
      onRecords: (records) => void said.push(...records.filter((record) => !('slots' in record))),
      stop: never,
      leave: never,
    });
    expect(outcome).toBe('finished');
    expect(said).toMatchObject([{ worker: first.pid }, { start: 0 }, { running: 0 }, { end: 0 }, { finished: true }]);
  } finally {
    await ended;
    remove(root);
  }
});
