/**
 * Why a job cannot be started, before anything is tried: what is missing elsewhere, all of it at once, and what is to be
 * chosen otherwise in the dialog.
 */
import type {
  Dataset,
  JobWithTaskStatuses,
  Project,
  UserProfileInfo,
  WorkflowTask,
  WorkflowTaskWithWarning,
} from '@service/contract';

import { typedNameProblem } from '../../api/names.ts';
import { nameOf } from '../../format.ts';
import { rightsOf } from '../../rights.ts';
import { type ArgumentProblem, invalidTasks } from './check.ts';
import { isConverter, type RunMode } from './next.ts';
import type { ZarrFolder } from './reset.ts';

function runRefusal(
  project: Pick<Project, 'permissions' | 'owner_email'>,
  user: { is_guest: boolean },
  info: UserProfileInfo,
): string | undefined {
  const right = rightsOf(project, user.is_guest).run;
  if (right !== undefined) return right;
  if (!info.has_profile) return 'Your account has no profile to run jobs with. Ask an administrator for one.';
  if (info.prevent_new_submissions)
    return `${info.resource_name ?? 'Your resource'} isn’t accepting new jobs right now. Try again later.`;
  return undefined;
}

/** What is wrong with the name of a dataset that is made beside the old one. */
export const nameProblem = (name: string, old: string): string | undefined =>
  name.trim() === ''
    ? 'Enter a name.'
    : name.trim() === old
      ? 'Enter a name different from the old dataset’s.'
      : typedNameProblem(name);

/** Something that has to be put right elsewhere; where it is about a task, which one and where in it. */
export interface Obstacle {
  words: string;
  task?: { id: number; number: number; name: string };
  problems?: readonly ArgumentProblem[];
}

interface Surroundings {
  project: Pick<Project, 'permissions' | 'owner_email'>;
  user: { is_guest: boolean };
  info: UserProfileInfo;
  /** The newest one of the workflow on the dataset. */
  job: Pick<JobWithTaskStatuses, 'id' | 'status'> | null;
  tasks: readonly WorkflowTaskWithWarning[];
  first: number;
  last: number;
}

/** Everything that is missing, not only what comes first. */
export function obstacles({ project, user, info, job, tasks, first, last }: Surroundings): Obstacle[] {
  const general = runRefusal(project, user, info);
  const blocked = tasks
    .map((task, index) => ({ task: { id: task.id, number: index + 1, name: nameOf(task) }, words: task.warning }))
    .slice(first, last + 1)
    .flatMap(({ task, words }) => (words === null ? [] : [{ task, words }]));
  const invalid = invalidTasks(tasks, first, last).map(({ problems, ...task }) => ({
    task,
    words: 'Arguments are missing or invalid.',
    problems,
  }));
  return [
    ...(general === undefined ? [] : [{ words: general }]),
    ...(job?.status === 'submitted'
      ? [{ words: `Job ${job.id} is running on this dataset. Wait until it ends, or stop it.` }]
      : []),
    ...blocked,
    ...invalid,
  ];
}

export interface Asked {
  mode: RunMode;
  project: Pick<Project, 'owner_email'>;
  tasks: readonly WorkflowTask[];
  first: number | undefined;
  dataset: Pick<Dataset, 'name' | 'zarr_dir' | 'image_count'>;
  /** Reset: where the new dataset would lie. */
  zarrFolder: ZarrFolder | undefined;
  /** Reset: the name beside the old one; undefined when it is replaced. */
  newName: string | undefined;
  /** Images for the first task; undefined while nobody knows. */
  chosen: number | undefined;
}

/** What has to be chosen otherwise, with the next step; the first reason that counts. */
export function startRefusal(asked: Asked): string | undefined {
  const { mode, tasks, first, dataset, chosen } = asked;
  if (tasks.length === 0) return 'This workflow has no tasks yet. Add one first.';
  const step = first === undefined ? undefined : tasks[first];
  if (step === undefined) return 'Choose the first task.';
  const reset = mode === 'reset' ? resetRefusal(asked, step) : undefined;
  if (reset !== undefined || isConverter(step.task_type)) return reset;
  if (dataset.image_count === 0)
    return `${dataset.name} has no images yet, and ${nameOf(step)} needs some. Begin with a converter, or add images to the dataset.`;
  return chosen === 0
    ? `No image reaches ${nameOf(step)} with these filters. Change them, or begin at another task.`
    : undefined;
}

function resetRefusal({ dataset, zarrFolder, newName, project }: Asked, step: WorkflowTask): string | undefined {
  if (zarrFolder === undefined)
    return `${dataset.name} is stored in ${dataset.zarr_dir}, outside your own folders, so you can’t recreate it. Ask ${project.owner_email} to reset it. Nothing was changed.`;
  if (!isConverter(step.task_type))
    return `A new dataset begins without images, and ${nameOf(step)} needs some. Reset is for workflows that begin with a converter.`;
  return newName === undefined ? undefined : nameProblem(newName, dataset.name);
}
