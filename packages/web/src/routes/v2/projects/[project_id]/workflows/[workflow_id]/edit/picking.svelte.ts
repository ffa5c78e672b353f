/** Tasks to put into a workflow: those that there are, those that are ticked, and adding them. */
import { type Answer, call } from '#lib/api/client.ts';
import { NO_FILTERS, type TaskFilters } from '#lib/tasks/table.ts';
import { createAction } from '#lib/ui/action.svelte.ts';

import { addTasks } from './taskActions.ts';

type Packages = Answer<'tasks.listTaskGroups'>;

interface Parts {
  workflow: () => { project_id: number; id: number };
  /** With the ids of the new workflow tasks. */
  onadded: (ids: number[]) => void;
}

export function createPicking({ workflow, onadded }: Parts) {
  let packages = $state.raw<Packages>();
  let filters = $state.raw(NO_FILTERS);
  let picked = $state.raw<number[]>([]);
  const loading = createAction();
  const adding = createAction();

  return {
    loading,
    adding,
    get packages() {
      return packages;
    },
    get filters() {
      return filters;
    },
    get picked() {
      return picked;
    },
    filter(changes: Partial<TaskFilters>) {
      filters = { ...filters, ...changes };
    },
    pick(next: number[]) {
      picked = next;
    },
    async load() {
      await loading.run(async () => {
        packages = await call('tasks.listTaskGroups', { query: { only_active: true } });
      });
    },
    /** `order` undefined puts them at the end. */
    async add(ids: readonly number[], order?: number) {
      let added: number[] = [];
      const { project_id, id } = workflow();
      const done = await adding.run(async () => {
        added = await addTasks(project_id, id, ids, order);
      });
      if (done) onadded(added);
    },
  };
}
