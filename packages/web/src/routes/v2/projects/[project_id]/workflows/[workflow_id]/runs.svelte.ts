/** The runs of tasks, asked for when somebody wants to see them. */
import type { HistoryRun } from '@service/contract';
import { SvelteMap } from 'svelte/reactivity';

import { call } from '#lib/api/client.ts';
import { ApiProblem } from '#lib/api/problem.ts';

export interface RunsOfTask {
  list: HistoryRun[] | undefined;
  problem: string | undefined;
}

export interface Runs {
  /** What is known; nothing is asked for. */
  of: (dataset_id: number, workflowtask_id: number) => RunsOfTask | undefined;
  load: (dataset_id: number, workflowtask_id: number) => Promise<void>;
  /** Asks again for all that was asked for. */
  again: () => void;
}

export function createRuns(project_id: number): Runs {
  const known = new SvelteMap<string, RunsOfTask>();
  /** How often each was asked for: only the answer to the newest question counts. */
  const asked: Record<string, number> = {};
  const keyOf = (dataset_id: number, workflowtask_id: number) => `${dataset_id}/${workflowtask_id}`;

  async function load(dataset_id: number, workflowtask_id: number) {
    const key = keyOf(dataset_id, workflowtask_id);
    const number = (asked[key] ?? 0) + 1;
    asked[key] = number;
    if (!known.has(key)) known.set(key, { list: undefined, problem: undefined });
    try {
      const query = { dataset_id, workflowtask_id };
      const list = await call('jobs.listRuns', { params: { project_id }, query }, { exact: true });
      if (number === asked[key]) known.set(key, { list, problem: undefined });
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      if (number === asked[key]) known.set(key, { list: known.get(key)?.list, problem: error.message });
    }
  }

  return {
    of: (dataset_id, workflowtask_id) => known.get(keyOf(dataset_id, workflowtask_id)),
    load,
    again() {
      for (const key of known.keys()) {
        const [dataset, task] = key.split('/').map(Number);
        void load(dataset!, task!);
      }
    },
  };
}
