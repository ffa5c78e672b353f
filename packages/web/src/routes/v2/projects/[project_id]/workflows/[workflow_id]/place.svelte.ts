/**
 * What of a workflow is shown. It stands in the address, so that a copied one shows the same: dataset, task, tab, run and
 * the filters of its lists. Whatever would lose edits asks first.
 *
 *     const place = createPlace({ workflow, page, edits, usual });
 *     place.task; place.selectTab('images');
 */
import type { Dataset, ImageStatus, Scalar, WorkflowTaskWithWarning } from '@service/contract';
import { onMount, untrack } from 'svelte';

import { newQuery, writeQuery } from '#lib/images/filters.ts';
import { address, setQuery, setSearch } from '#lib/ui/address.svelte.ts';
import { type Changes, changedQuery } from '#lib/ui/query.ts';
import { NO_LIST, readShown, type Shown, type Tab, withoutLists } from '#lib/workflow/address.ts';
import { NO_DATASET, rememberDataset } from '#lib/workflow/dataset.ts';

import type { Edits } from './edits.svelte.ts';

interface Options {
  workflow: () => { id: number; project_id: number; task_list: WorkflowTaskWithWarning[] };
  page: () => { datasets: Dataset[]; dataset_id?: number | undefined };
  edits: Edits;
  /** The task that is shown when the address names none: asked once, so that it stays when the job goes on. */
  usual: () => number | undefined;
}

/** Call it while a component is made. */
export function createPlace({ workflow, page, edits, usual }: Options) {
  const tasks = $derived(workflow().task_list);
  const wanted = $derived(address.params.get('dataset'));
  const dataset = $derived.by(() => {
    const { datasets, dataset_id } = page();
    if (wanted === NO_DATASET) return undefined;
    return datasets.find(({ id }) => String(id) === wanted) ?? datasets.find(({ id }) => id === dataset_id);
  });
  let begins: { task: number | undefined; tab: 'arguments' } | undefined;
  const shown = $derived.by<Shown>(() => {
    begins ??= untrack(() => ({ task: tasks[usual() ?? 0]?.id, tab: 'arguments' }));
    return readShown(address.search, begins);
  });
  const index = $derived(
    Math.max(
      0,
      tasks.findIndex(({ id }) => id === shown.task),
    ),
  );
  const task = $derived<WorkflowTaskWithWarning | undefined>(tasks[index]);

  function remember(id: number | undefined) {
    const { project_id, id: workflow_id } = workflow();
    rememberDataset(localStorage, project_id, workflow_id, id);
  }

  onMount(() => {
    if (!dataset) return;
    if (wanted === null) void setQuery({ dataset: dataset.id });
    remember(dataset.id);
  });

  async function showDataset(id: number | undefined) {
    remember(id);
    await setQuery({ dataset: id ?? NO_DATASET, run: null, ...NO_LIST });
  }

  /** Changes what is shown; lists begin anew. */
  const show = (changes: Changes, filters = newQuery()) =>
    void setSearch((search) => writeQuery(filters, changedQuery(withoutLists(search), changes)));

  return {
    get dataset() {
      return dataset;
    },
    get shown() {
      return shown;
    },
    get index() {
      return index;
    },
    get task() {
      return task;
    },
    show,
    showDataset,
    chooseDataset: (id: number | undefined) => edits.first(() => void showDataset(id)),
    selectTask: (id: number, tab: Tab = shown.tab) => edits.first(() => show({ task: id, tab, run: null })),
    selectTab: (tab: Tab) => edits.first(() => show({ task: task?.id, tab })),
    selectRun: (id: number | undefined, of = task?.id, tab: Tab = shown.tab) =>
      edits.first(() => show({ task: of, tab, run: id })),
    showImages: (of: number, status?: ImageStatus, image?: string) =>
      edits.first(() =>
        show({ task: of, tab: 'images', run: null, image }, newQuery(status ? { status: [status] } : {})),
      ),
    showWells: (of: number, plate: Scalar, well: string[]) =>
      edits.first(() =>
        show({ task: of, tab: 'images', run: null }, newQuery({ attributes: { plate: [plate], well } })),
      ),
  };
}
