/** Why nothing can be run, before anything is tried. */
import type { Dataset, Project, UserProfileInfo, WorkflowTask, WorkflowTaskWithWarning } from '@service/contract';

import { rightsOf } from '../rights.ts';
import { nameOf } from '../words.ts';
import type { Place } from './reset.ts';
import { isConverter, type RunMode } from './tasks.ts';

export function runRefusal(
  project: Pick<Project, 'permissions' | 'owner_email'>,
  user: { is_guest: boolean },
  info: UserProfileInfo | undefined,
): string | undefined {
  const right = rightsOf(project, user.is_guest).run;
  if (right !== undefined || info === undefined) return right;
  if (!info.has_profile) return 'Your account has no profile to run jobs with. Ask an administrator for one.';
  if (info.prevent_new_submissions)
    return `${info.resource_name ?? 'Your resource'} takes no new jobs at present. Try again later.`;
  return undefined;
}

/** Tasks of the range that the service would refuse, because they are not active or not shared with the reader. */
export const blockedTasks = (
  tasks: readonly WorkflowTaskWithWarning[],
  first: number,
  last: number,
): { id: number; name: string; warning: string }[] =>
  tasks
    .slice(first, last + 1)
    .filter(({ warning }) => warning !== null)
    .map((task) => ({ id: task.id, name: nameOf(task), warning: task.warning! }));

/** What is wrong with the name of a dataset that is made beside the old one. */
export const nameProblem = (name: string, old: string): string | undefined =>
  name.trim() === ''
    ? 'Enter a name.'
    : name.trim() === old
      ? 'Choose another name than that of the old dataset.'
      : undefined;

export interface Asked {
  mode: RunMode;
  project: Pick<Project, 'permissions' | 'owner_email'>;
  user: { is_guest: boolean };
  info: UserProfileInfo;
  tasks: readonly WorkflowTaskWithWarning[];
  first: number | undefined;
  last: number;
  dataset: Pick<Dataset, 'name' | 'zarr_dir' | 'image_count'>;
  /** Reset: where the new dataset would lie. */
  place: Place | undefined;
  /** Reset: the name beside the old one; undefined when it is replaced. */
  newName: string | undefined;
  /** Images for the first task; undefined while nobody knows. */
  chosen: number | undefined;
}

/** Why this job cannot be started, with the next step; the first reason that counts. */
export function startRefusal(asked: Asked): string | undefined {
  const { mode, tasks, first, last, dataset, chosen } = asked;
  const general = runRefusal(asked.project, asked.user, asked.info);
  if (general !== undefined) return general;
  if (tasks.length === 0) return 'This workflow has no tasks yet. Add one first.';
  const step = first === undefined ? undefined : tasks[first];
  if (step === undefined) return 'Choose the first task.';
  const reset = mode === 'reset' ? resetRefusal(asked, step) : undefined;
  if (reset !== undefined) return reset;
  const [blocked] = blockedTasks(tasks, first!, last);
  if (blocked) return `${blocked.name} cannot run. ${blocked.warning}`;
  if (isConverter(step.task_type)) return undefined;
  if (dataset.image_count === 0)
    return `${dataset.name} has no images yet, and ${nameOf(step)} needs some. Begin with a converter, or add images to the dataset.`;
  return chosen === 0
    ? `No image reaches ${nameOf(step)} with these filters. Change them, or begin at another task.`
    : undefined;
}

function resetRefusal({ dataset, place, newName, project }: Asked, step: WorkflowTask): string | undefined {
  if (place === undefined)
    return `${dataset.name} lies in ${dataset.zarr_dir}, outside your own folders, so that you cannot make it anew. Ask ${project.owner_email} to reset it. Nothing was changed.`;
  if (!isConverter(step.task_type))
    return `A new dataset begins without images, and ${nameOf(step)} needs some. Reset is for workflows that begin with a converter.`;
  return newName === undefined ? undefined : nameProblem(newName, dataset.name);
}
