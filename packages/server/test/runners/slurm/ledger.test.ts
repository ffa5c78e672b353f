/** What the service must not forget of a batch. */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect, it } from 'vitest';

import { openJobArrays } from '../../../src/runners/slurm/job-arrays.ts';
import { openLedger } from '../../../src/runners/slurm/ledger.ts';

const folder = mkdtempSync(join(tmpdir(), 'service-ledger-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a batch that began before goes on: the number of units in a pack had another name', () => {
  const plan = { number: 0, attempt: 0, options: {}, tasksPerJob: 4, parallel: 2, units: null };
  writeFileSync(join(folder, 'memory.jsonl'), `${JSON.stringify({ round: plan })}\n`);
  const { tasksPerJob: unitsPerPack, ...rest } = plan;
  expect(openLedger(folder).entries).toEqual([{ round: { ...rest, unitsPerPack } }]);
});

it('arrays are known again after a restart, also when the last line was torn', () => {
  const before = openJobArrays(openLedger(folder));
  const [first, second] = [0, 1000].map((base) => before.add({ round: 0, base, count: 1000 }));
  before.submitted(first!, 12);
  before.seen(first!);
  appendFileSync(join(folder, 'memory.jsonl'), '{"submitted": {"tok');
  const after = openJobArrays(openLedger(folder));
  expect(after.all()).toEqual([
    { round: 0, base: 0, count: 1000, token: first!.token, id: 12, seen: true },
    { round: 0, base: 1000, count: 1000, token: second!.token, id: undefined, seen: false },
  ]);
  after.submitted(after.all()[1]!, 13);
  expect(openJobArrays(openLedger(folder)).ids()).toEqual([12, 13]);
});
