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
  const keyOf = (dataset_id: number, workflowtask_id: number) => `${dataset_id}/${workflowtask_id}`;

  async function load(dataset_id: number, workflowtask_id: number) {
    const key = keyOf(dataset_id, workflowtask_id);
    const before = known.get(key);
    if (!before) known.set(key, { list: undefined, problem: undefined });
    try {
      const query = { dataset_id, workflowtask_id };
      const list = await call('jobs.listRuns', { params: { project_id }, query }, { exact: true });
      known.set(key, { list, problem: undefined });
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      known.set(key, { list: before?.list, problem: error.message });
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
