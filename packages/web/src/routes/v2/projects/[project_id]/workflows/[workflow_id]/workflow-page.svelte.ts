/**
 * What all parts of the workflow page share: the workflow and its newest job, what of it is shown, and what can be asked for.
 *
 *     const page = useWorkflowPage();
 *     const { workflow, job } = $derived(page);
 */
import type { Dataset, JobWithTaskStatuses, WorkflowTaskWithWarning, WorkflowWithWarnings } from '@service/contract';
import { createContext } from 'svelte';

import type { Rights } from '#lib/rights.ts';
import type { NextRun } from '#lib/workflow/run/next.ts';
import type { TaskView } from '#lib/workflow/status.ts';

import type { PageProps } from './$types';
import type { Runs } from './runs.svelte.ts';
import type { Open, Selection } from './selection.svelte.ts';

/** A task as it was saved; its warning comes with the whole workflow only. */
export type SavedTask = Omit<WorkflowTaskWithWarning, 'warning'>;

export interface WorkflowPage {
  readonly workflow: WorkflowWithWarnings;
  readonly datasets: Dataset[];
  readonly dataset: Dataset | undefined;
  /** The newest one on the dataset. */
  readonly job: JobWithTaskStatuses | null;
  /** One for each task, in their order. */
  readonly views: TaskView[];
  /** What a press on Run does. */
  readonly next: NextRun;
  /** Newer versions of each task, in their order. */
  readonly candidates: { task_id: number; version: string }[][];
  readonly runs: Runs;
  readonly selection: Selection;
  readonly rights: Rights;
  readonly user: NonNullable<PageProps['data']['user']>;
  /** While a job of the workflow runs. */
  readonly lockedOrder: boolean;
  /** Another number whenever the job has got on. */
  readonly moved: number;
  /** Opens something over the page, when nothing is lost by it. */
  open(what: Open): void;
  /** Shows a task with its arguments, and the field at this path. */
  showField(task: number, path?: string): void;
  take(saved: SavedTask): void;
  reload(): Promise<void>;
}

export const [useWorkflowPage, provideWorkflowPage] = createContext<WorkflowPage>();
