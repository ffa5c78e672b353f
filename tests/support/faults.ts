/** What the tests of faults do with jobs. */
import { expect } from 'vitest';

import type { Flow, TaskSpec } from '../../packages/server/test/support/lab.ts';
import { storyOf } from './every-task.ts';
import type { Deployment } from './deployment.ts';

export async function submit({ lab }: Deployment, flow: Flow, dataset: number): Promise<number> {
  const { status, text, body } = await lab.submit(flow, dataset);
  expect([status, text]).toEqual([202, text]);
  return (body as { id: number }).id;
}

export const submitNew = async (deployment: Deployment, flow: Flow) =>
  submit(deployment, flow, await deployment.lab.dataset());

/** A job with one parallel task on these images. */
export async function submitParallel(deployment: Deployment, images: string[], spec: Omit<TaskSpec, 'type'>) {
  const flow = await deployment.lab.workflow([{ type: 'parallel', ...spec }]);
  const dataset = await deployment.lab.dataset(images);
  return { flow, dataset, id: await submit(deployment, flow, dataset) };
}

export async function isOver({ db }: Deployment, id: number): Promise<boolean> {
  const { status } = await db.selectFrom('jobs').select('status').where('id', '=', id).executeTakeFirstOrThrow();
  return status !== 'submitted';
}

/** Nothing is left of jobs that are over but their folders and zips. */
export async function expectNothingLeft(deployment: Deployment): Promise<void> {
  const left = async () => ({
    processes: deployment.processes(),
    runningJobs: deployment.runningJobs(),
    work: await deployment.db.selectFrom('background_work').select(['subject_id', 'leased_by']).execute(),
  });
  await expect.poll(left, { timeout: 20_000 }).toEqual({ processes: [], runningJobs: [], work: [] });
}

/** A job that nobody disturbs, and what it adds to the accounting. */
export async function undisturbed(deployment: Deployment, flow: Flow) {
  const id = await submitNew(deployment, flow);
  await deployment.lab.end(id, 60);
  await expectNothingLeft(deployment);
  return { story: await storyOf(deployment, id), accounting: await deployment.lab.accounting() };
}

export const startsIn = (deployment: Deployment, working_dir: string) =>
  deployment.lab.starts().filter(({ out }) => out.startsWith(working_dir));
