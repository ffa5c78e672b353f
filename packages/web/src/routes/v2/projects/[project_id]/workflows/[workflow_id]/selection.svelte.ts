/**
 * What of a workflow is shown. It stands in the address, so that a copied one shows the same: dataset, task, tab, run and
 * the filters of its lists. An address without a task follows the one that runs, until something is chosen or edited.
 * Whatever would lose edits asks first.
 *
 *     const selection = createSelection({ workflow, page, edits, usual, running });
 *     selection.task; selection.selectTab('images');
 */
import type { Dataset, ImageStatus, Scalar, WorkflowTaskWithWarning } from '@service/contract';
import { onMount, untrack } from 'svelte';

import { newQuery, writeQuery } from '#lib/images/filters.ts';
import { address, setQuery, setSearch } from '#lib/ui/address.svelte.ts';
import { type Changes, changedQuery } from '#lib/ui/query.ts';
import { PAGE_SIZES } from '#lib/ui/table.ts';
import { NO_LIST, readShown, type Shown, type Tab, withoutLists } from '#lib/workflow/address.ts';
import { NO_DATASET, rememberDataset } from '#lib/workflow/dataset.ts';
import type { RunMode } from '#lib/workflow/run/next.ts';

import type { Edits } from './edits.svelte.ts';

interface Options {
  workflow: () => { id: number; project_id: number; task_list: WorkflowTaskWithWarning[] };
  page: () => { datasets: Dataset[]; dataset_id?: number | undefined };
  edits: Edits;
  /** The place of the task that is shown first when the address names none. */
  usual: () => number | undefined;
  /** The task that runs now. */
  running: () => number | undefined;
}

/** Beside a log equal errors are one line, so that many of them have room. */
const MANY = { pageSize: PAGE_SIZES.at(-1)! };

/** Call it while a component is made. */
export function createSelection({ workflow, page, edits, usual, running }: Options) {
  const tasks = $derived(workflow().task_list);
  const wanted = $derived(address.params.get('dataset'));
  const dataset = $derived.by(() => {
    const { datasets, dataset_id } = page();
    if (wanted === NO_DATASET) return undefined;
    return datasets.find(({ id }) => (wanted ? String(id) === wanted : id === dataset_id));
  });
  /** What the address asks for, where the project does not have it. */
  const missing = $derived(wanted && wanted !== NO_DATASET && !dataset ? wanted : undefined);
  let begins: number | undefined;
  let followed = $state<number>();
  const shown = $derived.by<Shown>(() => {
    begins ??= untrack(() => tasks[usual() ?? 0]?.id);
    return readShown(address.search, { task: followed ?? begins, tab: 'arguments' });
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

  $effect(() => {
    const now = running();
    if (now === undefined) return;
    // whoever edits a task stays there
    if (!edits.changed) followed = now;
    else if (untrack(() => !address.params.has('task'))) void untrack(() => show({ task: task?.id, tab: shown.tab }));
  });

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
    setSearch((search) => writeQuery(filters, changedQuery(withoutLists(search), changes)));

  return {
    get dataset() {
      return dataset;
    },
    get missing() {
      return missing;
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
    /** From now on the task that runs. */
    follow: () => edits.first(() => void show({ task: null, tab: null, run: null })),
    chooseDataset: (id: number | undefined) => edits.first(() => void showDataset(id)),
    selectTask: (id: number, tab: Tab = shown.tab) => edits.first(() => void show({ task: id, tab, run: null })),
    selectTab: (tab: Tab) => edits.first(() => void show({ task: task?.id, tab })),
    selectRun: (id: number | undefined, of = task?.id, tab: Tab = shown.tab) =>
      edits.first(() => void show({ task: of, tab, run: id })),
    showImages: (of: number, status?: ImageStatus, image?: string) =>
      edits.first(
        () =>
          void show(
            { task: of, tab: 'images', run: null, image },
            newQuery({ ...(status ? { status: [status] } : {}), ...(image && status === 'failed' ? MANY : {}) }),
          ),
      ),
    showWells: (of: number, plate: Scalar, well: string[]) =>
      edits.first(
        () => void show({ task: of, tab: 'images', run: null }, newQuery({ attributes: { plate: [plate], well } })),
      ),
  };
}

export type Selection = ReturnType<typeof createSelection>;

/** What is open over the workflow page. */
export type Open =
  | { what: 'run'; mode: RunMode; task?: WorkflowTaskWithWarning }
  | { what: 'delete'; task: WorkflowTaskWithWarning }
  | { what: 'stop' | 'add' | 'reorder' | 'properties' | 'template' | 'compare' | 'flow' | 'updateAll' };
