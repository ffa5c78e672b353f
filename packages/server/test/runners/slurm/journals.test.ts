/** Journals that come by themselves, printed by a command on an account of somebody else. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, expect, it } from 'vitest';

import { type Commands, localHost } from '../../../src/hosts/index.ts';
import type { Cluster } from '../../../src/runners/slurm/cluster.ts';
import { createFollower } from '../../../src/runners/slurm/journal-follower.ts';
import { createJournalReader } from '../../../src/runners/slurm/journals.ts';
import { openLedger } from '../../../src/runners/slurm/ledger.ts';
import { openProgress } from '../../../src/runners/slurm/progress.ts';
import { openResults } from '../../../src/runners/slurm/results.ts';
import { openUnits } from '../../../src/runners/slurm/rounds.ts';
import { optionsFor } from '../../engine/slurm/support.ts';
import { until } from '../../support/until.ts';
import { cleanUp, newFolder, smallBatch } from '../batch.ts';

afterAll(cleanUp);

const FIRST = 'r0-000000.jsonl';
const SECOND = 'r0-000001.jsonl';

/** Writes down what it is told. At first it stops in the middle of two records, later it prints all from where it is asked to. */
const program = (heard: string) => `
import json, sys
def say(file, offset, data): print(json.dumps({'folder': '/out', 'file': file, 'offset': offset, 'data': data}), flush=True)
records = {'${FIRST}': '{"start": 0, "time": 1}\\n', '${SECOND}': '{"start": 1, "time": 1}\\n'}
for line in sys.stdin:
    said = json.loads(line)
    if 'follow' not in said: continue
    is_first = open(${JSON.stringify(heard)}, 'a+').tell() == 0
    open(${JSON.stringify(heard)}, 'a').write(json.dumps(said['offsets']) + '\\n')
    for file, record in records.items():
        offset = said['offsets'].get(file, 0)
        say(file, offset, record[offset:12] if is_first else record[offset:])
`;

it('half a record waits for no other journal: it is dropped, and asked for again', async () => {
  const root = newFolder();
  const heard = join(root, 'heard');
  const plan = { options: optionsFor(), unitsPerPack: 1, parallel: 1 };
  const batch = {
    ...smallBatch(root),
    total: 2,
    units: () => [0, 1].map((number) => ({ number, stem: `unit-${number}`, args: '{}' })),
    cluster: { plan, taskFolder: '/t', inputs: '/in', outputs: '/out', cacheDir: null },
  };
  mkdirSync(batch.folder);
  const units = await openUnits(batch);
  const [stop, leave] = [new AbortController().signal, new AbortController().signal];
  const progress = openProgress({
    batch,
    ledger: openLedger(batch.folder),
    results: await openResults(batch.taskFolder, units),
    following: { onRecords: () => undefined, stop, leave },
  });
  const { packs } = progress.begin({ number: 0, attempt: 0, units: null, ...plan });
  const commands: Commands = { run: (_, options) => localHost.run(['python3', '-c', program(heard)], options) };
  const follower = createFollower(commands);
  // of a cluster, what follows journals: the queue and its files are not asked
  const cluster = { python: 'python3', sharedPath: (path: string) => path, follower } as unknown as Cluster;
  const journals = createJournalReader({ cluster, batch, progress, wake: () => undefined });
  try {
    await until('both records', async () => {
      await journals.take();
      return packs.every(({ started }) => started.size === 1);
    });
    const asked = readFileSync(heard, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(asked.slice(0, 2)).toEqual([{}, { [SECOND]: 12 }]);
  } finally {
    journals.close();
    follower.close();
    await units.close();
  }
});
