/** What the chosen dataset has and earlier tasks will make, for the form of a task: asked for only where an argument could name it. */
import type { WorkflowTask } from '@service/contract';

import { call } from '../api/client.ts';
import { type Made, madeBy } from '../form/made.ts';
import { wantedBy } from '../form/meaning.ts';
import type { DataNames } from '../form/names.ts';
import { createAnswer } from '../images/answer.svelte.ts';

interface Subject {
  project_id: number;
  /** Undefined: none is chosen. */
  dataset_id: number | undefined;
  schemas: unknown;
  /** Another value when images may have become others: a job has ended. */
  version: unknown;
  /** The tasks before this one, from the first on. */
  before: readonly WorkflowTask[];
}

/** A task that is saved is another object. */
const known = new WeakMap<WorkflowTask, readonly Made[]>();

function madeIn(step: WorkflowTask, index: number): readonly Made[] {
  const { args_non_parallel, args_parallel } = step;
  const found =
    known.get(step) ??
    madeBy({ schemas: { ...step.task, type: step.task_type }, values: { args_non_parallel, args_parallel } }, 0);
  known.set(step, found);
  return found.map((one) => ({ ...one, task: index + 1 }));
}

/** Call it while a component is made. What cannot be read suggests nothing: a form works without. */
export function createDataNames(subject: () => Subject): { readonly names: DataNames | undefined } {
  const wanted = $derived(wantedBy(subject().schemas));
  const asked = (part: 'contents' | 'attributes') => {
    const { project_id, dataset_id, version } = subject();
    return wanted[part] && dataset_id !== undefined ? { project_id, dataset_id, version } : undefined;
  };
  const contents = createAnswer(
    () => asked('contents'),
    ({ project_id, dataset_id }, options) =>
      call('projects.getDatasetContents', { params: { project_id, dataset_id } }, options),
  );
  const list = createAnswer(
    () => asked('attributes'),
    ({ project_id, dataset_id }, options) =>
      call(
        'projects.queryImages',
        { params: { project_id, dataset_id }, query: { page: 1, page_size: 1 }, body: {} },
        options,
      ),
  );
  const made = $derived(wanted.contents ? subject().before.flatMap(madeIn) : []);
  return {
    get names() {
      if (contents.value === undefined && list.value === undefined && made.length === 0) return undefined;
      return { contents: contents.value, attributes: list.value?.attributes, made };
    },
  };
}
