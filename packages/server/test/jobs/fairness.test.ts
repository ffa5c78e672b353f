/** Jobs share the slots of the machine: never more units than slots, and a small job does not wait for a large one. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';

import { dataFolder, type Lab, openLab, until } from '../support/lab.ts';
import { LONG } from '../support/long.ts';
import { startService, type TestService } from '../support/server.ts';

interface Span {
  url: string;
  start: number;
  end: number;
}

const withSlots = (number: number) =>
  startService({ settings: { SERVICE_DATA_DIR: dataFolder(), SERVICE_MAX_NUM_THREADS: String(number) } });

let twoSlots: TestService;
let oneSlot: TestService;

beforeAll(async () => {
  twoSlots = await withSlots(2);
  oneSlot = await withSlots(1);
});

/** What the units themselves recorded, of all jobs. */
const spansOf = (lab: Lab) => lab.linesOf<Span>(join(lab.root, 'ends'));

/** The most that ran at one time. */
function together(spans: Span[]): number {
  const moments = spans.flatMap(({ start, end }) => [
    { time: start, change: 1 },
    { time: end, change: -1 },
  ]);
  moments.sort((one, other) => one.time - other.time || one.change - other.change);
  let [now, most] = [0, 0];
  for (const { change } of moments) most = Math.max(most, (now += change));
  return most;
}

interface Given {
  units: number;
  sleep: number;
  /** A file that all units wait for. */
  wait_for?: string;
}

async function submit(lab: Lab, name: string, { units, ...step }: Given): Promise<number> {
  const args = { ends: join(lab.root, 'ends') };
  const flow = await lab.workflow([{ type: 'parallel', plan: { '*': step }, args }]);
  const { status, body } = await lab.submit(
    flow,
    await lab.dataset(Array.from({ length: units }, (_, n) => `${name}-${n}`)),
  );
  expect(status).toBe(202);
  return body.id;
}

const ofJob = (lab: Lab, name: string) => spansOf(lab).filter(({ url }) => lab.nameOf(url).startsWith(`${name}-`));

it('a small job that comes later ends long before a large one', { timeout: 90_000 }, async () => {
  const lab = await openLab(twoSlots, { origin: 'pypi' });
  const large = await submit(lab, 'large', { units: 200, sleep: 0.05 });
  await until('units of the large job', () => ofJob(lab, 'large').length >= 10);
  const small = await submit(lab, 'small', { units: 3, sleep: 0.05 });
  expect((await lab.end(small)).status).toBe('done');
  expect(ofJob(lab, 'large').length).toBeLessThan(150);
  expect((await lab.job(large)).status).toBe('submitted');
  expect((await lab.end(large, 80)).status).toBe('done');
  expect(spansOf(lab)).toHaveLength(203);
  expect(together(spansOf(lab))).toBe(2);
});

it.runIf(LONG)('three jobs that have one slot take turns', { timeout: 90_000 }, async () => {
  const lab = await openLab(oneSlot, { origin: 'pypi' });
  const names = ['one', 'two', 'three'];
  const gate = join(lab.root, 'gate');
  // longer than a turn, however quick the machine
  const given = { units: 6, sleep: 0.5, wait_for: gate };
  const jobs = await Promise.all(names.map((name) => submit(lab, name, given)));
  const planned = 'select count(distinct history_run_id)::int as runs from history_units';
  await until('units of all jobs', async () => {
    const { rows } = await oneSlot.database.pool.query<{ runs: number }>(planned);
    return rows[0]!.runs === jobs.length;
  });
  writeFileSync(gate, '');
  for (const job of jobs) expect((await lab.end(job, 80)).status).toBe('done');
  expect(together(spansOf(lab))).toBe(1);
  const spans = names.map((name) => ofJob(lab, name));
  expect(spans.map((one) => one.length)).toEqual([6, 6, 6]);
  const firstEnd = Math.min(...spans.map((one) => Math.max(...one.map(({ end }) => end))));
  for (const one of spans) expect(Math.min(...one.map(({ start }) => start))).toBeLessThan(firstEnd);
});
