/** The dataset, and the tasks whose work on it can be shown. Neither depends on the filters of the page. */
import { call } from '#lib/api/client.ts';
import { ApiProblem } from '#lib/api/problem.ts';

import { firstTask, ranTasks, workflowsOf } from './ran-tasks.ts';
import type { LayoutLoad } from './$types';

type Fetch = typeof fetch;
const NEWEST = 50;

async function tasksOn(project_id: number, dataset_id: number, fetch: Fetch) {
  const params = { project_id };
  const list = await call('jobs.listJobs', { params, query: { dataset_id, log: false, page_size: NEWEST } }, { fetch });
  const ran = await Promise.all(
    workflowsOf(Array.isArray(list) ? list : list.items).map(async (workflow_id) => {
      const [workflow, job] = await Promise.all([
        call('projects.getWorkflow', { params: { project_id, workflow_id } }, { fetch }),
        call('jobs.latestJob', { params, query: { workflow_id, dataset_id } }, { fetch }),
      ]);
      return { workflow, job };
    }),
  );
  const tasks = ranTasks(ran);
  return { tasks, first: firstTask(ran, tasks), problem: undefined };
}

const NO_TASKS: Awaited<ReturnType<typeof tasksOn>> = { tasks: [], first: undefined, problem: undefined };

export const load: LayoutLoad = async ({ params, route, fetch, depends }) => {
  depends('app:dataset');
  // an image and measurements are shown without waiting for what tasks did
  const isAlone = /\/(view|measurements)$/.test(route.id);
  const [project_id, dataset_id] = [Number(params.project_id), Number(params.dataset_id)];
  const [dataset, ran] = await Promise.all([
    call('projects.getDataset', { params: { project_id, dataset_id } }, { fetch }),
    // images are shown without what tasks did, rather than not at all
    (isAlone ? Promise.resolve(NO_TASKS) : tasksOn(project_id, dataset_id, fetch)).catch((error: unknown) => {
      if (!(error instanceof ApiProblem) || error.status === 404 || error.status === 403) throw error;
      return { tasks: [], first: undefined, problem: error.message };
    }),
  ]);
  return { dataset, ran };
};
