/** What the service must not forget of a batch. */
import { appendFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { openJobArrays } from '../../../src/runners/slurm/job-arrays.ts';
import { openLedger } from '../../../src/runners/slurm/ledger.ts';
import { temporaryFolder } from '../../support/file-end.ts';

it('a batch that began before goes on: the number of units in a pack had another name', () => {
  const folder = temporaryFolder('ledger');
  const plan = { number: 0, attempt: 0, options: {}, tasksPerJob: 4, parallel: 2, units: null };
  writeFileSync(join(folder, 'memory.jsonl'), `${JSON.stringify({ round: plan })}\n`);
  const { tasksPerJob: unitsPerPack, ...rest } = plan;
  expect(openLedger(folder).entries).toEqual([{ round: { ...rest, unitsPerPack } }]);
});

it.each(['ledger.jsonl', 'memory.jsonl'])(
  'arrays are known again after a restart, also when the last line of %s was torn',
  (file) => {
    const folder = temporaryFolder('ledger');
    // as a batch that began before an update has it
    if (file === 'memory.jsonl') writeFileSync(join(folder, file), '');
    const before = openJobArrays(openLedger(folder));
    const [first, second] = [0, 1000].map((base) => before.add({ round: 0, base, count: 1000 }));
    before.submitted(first!, 12);
    before.seen(first!);
    expect(readdirSync(folder)).toEqual([file]);
    appendFileSync(join(folder, file), '{"submitted": {"tok');
    const after = openJobArrays(openLedger(folder));
    expect(after.all()).toEqual([
      { round: 0, base: 0, count: 1000, token: first!.token, id: 12, seen: true },
      { round: 0, base: 1000, count: 1000, token: second!.token, id: undefined, seen: false },
    ]);
    after.submitted(after.all()[1]!, 13);
    expect(openJobArrays(openLedger(folder)).ids()).toEqual([12, 13]);
  },
);
