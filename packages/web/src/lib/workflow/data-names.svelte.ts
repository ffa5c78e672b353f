/** What the chosen dataset has, for the form of a task: asked for only where an argument could name it. */
import { call } from '../api/client.ts';
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
  return {
    get names() {
      if (contents.value === undefined && list.value === undefined) return undefined;
      return { contents: contents.value, attributes: list.value?.attributes };
    },
  };
}
