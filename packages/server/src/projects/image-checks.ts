/** What a person should know about the images before pressing Run. */
import type { Dataset, ImageFilters, User } from '@service/contract';

import type { Database } from '../db/index.ts';
import { STATUS_KEY } from '../engine/filters.ts';
import { isConverterType } from '../engine/units.ts';
import { refuse } from '../http/index.ts';
import { openProject } from './access.ts';
import { NO_FILTERS } from './images.ts';
import { findDataset } from './store/datasets.ts';
import * as store from './store/images.ts';

/** Takes the status out of the attribute filters, since it is not stored with the image. */
export function splitStatus(filters: ImageFilters, workflowtask_id: number) {
  const { [STATUS_KEY]: statuses, ...attribute_filters } = filters.attribute_filters;
  const status = statuses && { workflowtask_id, statuses: statuses.filter((value) => typeof value === 'string') };
  return { filters: { ...filters, attribute_filters }, status };
}

/** Types that some of the images have and others have not. */
export async function ambiguousTypes(
  db: Database,
  dataset: Dataset,
  asked: ImageFilters = NO_FILTERS,
  workflowtask_id: number,
): Promise<string[]> {
  const { filters, status } = splitStatus(asked, workflowtask_id);
  return store.ambiguousTypes(db, dataset.id, filters, status);
}

/** Images that the task before this one has not finished; none where that task makes its own images. */
export async function nonProcessedImages(
  db: Database,
  user: User,
  ids: { project_id: number; dataset_id: number; workflow_id: number; workflowtask_id: number },
  filters: ImageFilters,
): Promise<string[]> {
  const { project } = await openProject(db, user, ids.project_id, 'r');
  const task = await store.precedingTask(db, project.id, ids.workflow_id, ids.workflowtask_id);
  if (task === 'no workflow') throw refuse(404, 'There is no workflow with this id in the project.');
  if (task === 'no workflow task') throw refuse(404, 'There is no task with this id in the workflow.');
  if (task.previous_id === null) return [];
  if (Object.keys(task.previous_output_types ?? {}).length > 0) return [];
  if (task.previous_type !== null && isConverterType(task.previous_type)) return [];
  const dataset = await findDataset(db, project, ids.dataset_id);
  if (!dataset) throw refuse(404, 'There is no dataset with this id in the project.');
  return store.imagesNotDone(db, dataset.id, filters, task.previous_id);
}
