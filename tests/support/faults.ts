/** What the tests of faults do with jobs. */
import { expect } from 'vitest';

import type { Flow, TaskSpec } from '../../packages/server/test/support/lab.ts';
import { storyOf } from './every-task.ts';
import type { House } from './house.ts';

export async function submit({ lab }: House, flow: Flow, dataset: number): Promise<number> {
  const { status, text, body } = await lab.submit(flow, dataset);
  expect([status, text]).toEqual([202, text]);
  return (body as { id: number }).id;
}

export const submitNew = async (house: House, flow: Flow) => submit(house, flow, await house.lab.dataset());

/** A job with one parallel task on these images. */
export async function submitParallel(house: House, images: string[], spec: Omit<TaskSpec, 'type'>) {
  const flow = await house.lab.workflow([{ type: 'parallel', ...spec }]);
  const dataset = await house.lab.dataset(images);
  return { flow, dataset, id: await submit(house, flow, dataset) };
}

export async function isOver({ db }: House, id: number): Promise<boolean> {
  const { status } = await db.selectFrom('jobs').select('status').where('id', '=', id).executeTakeFirstOrThrow();
  return status !== 'submitted';
}

/** Nothing is left of jobs that are over but their folders and zips. */
export async function expectNothingLeft(house: House): Promise<void> {
  const left = async () => ({
    processes: house.processes(),
    runningJobs: house.runningJobs(),
    work: await house.db.selectFrom('background_work').select(['subject_id', 'leased_by']).execute(),
  });
  await expect.poll(left, { timeout: 20_000 }).toEqual({ processes: [], runningJobs: [], work: [] });
}

/** A job that nobody disturbs, and what it adds to the accounting. */
export async function undisturbed(house: House, flow: Flow) {
  const id = await submitNew(house, flow);
  await house.lab.end(id, 60);
  await expectNothingLeft(house);
  return { story: await storyOf(house, id), accounting: await house.lab.accounting() };
}

export const startsIn = (house: House, working_dir: string) =>
  house.lab.starts().filter(({ out }) => out.startsWith(working_dir));
