/** What the choices of the run dialog do on the service, in words: nothing of it is left for the reader to find out. */
import type { ImageStatus, TaskType } from '@service/contract';
import { plural } from '@service/contract/plural';

import { counted } from '../../format.ts';

import { hasStatusPerImage, isConverter } from './next.ts';

export interface Choices {
  /** The dataset begins anew. */
  isReset: boolean;
  dataset: string;
  first: { name: string; type: TaskType };
  /** The places of the first and the last task, and how many the workflow has. */
  from: number;
  to: number;
  of: number;
  /** Images that pass types and attributes, by status for the first task; undefined while nobody knows. */
  byStatus: Record<ImageStatus, number> | undefined;
  statuses: readonly ImageStatus[];
  /** Later tasks get images that the status filter leaves out, too. */
  laterTasksGetAll: boolean;
  hasAttributeFilters: boolean;
  hasTypeFilters: boolean;
  /** Reset: the dataset stays, another one is made beside it. */
  keepsOld: boolean;
}

/** `Tasks 4 to 6 of 6`, `Task 4 of 6` */
const rangeWords = (first: number, last: number, count: number): string =>
  first === last ? `Task ${first + 1} of ${count}` : `Tasks ${first + 1} to ${last + 1} of ${count}`;

/** In the order in which they matter. */
export function effectsOf(choices: Choices): string[] {
  const { from, to, of, dataset } = choices;
  return [
    `${rangeWords(from, to, of)} ${from === to ? 'runs' : 'run'} on ${dataset}.`,
    ...resetEffects(choices),
    ...statusEffects(choices),
    ...filterEffects(choices),
    to > from
      ? 'The tasks run one after the other. If an image fails, the other images of that task still finish and keep their results; later tasks do not start.'
      : 'If an image fails, the other images still finish and keep their results.',
  ];
}

function resetEffects({ isReset, keepsOld }: Choices): string[] {
  if (!isReset) return [];
  return keepsOld
    ? [
        'The new dataset begins without images and without history. The old one stays as it is. Both write to the same folder.',
      ]
    : [
        'The image list and history of this dataset are cleared; it gets a new ID and loses its star. Files on disk stay.',
        'The old dataset is removed only after the new one exists and its job is accepted. If either is refused, nothing changes.',
      ];
}

function statusEffects({ isReset, first, from, to, byStatus, statuses, laterTasksGetAll }: Choices): string[] {
  if (isReset || isConverter(first.type)) {
    return isConverter(first.type) ? [`${first.name} creates new images and ignores existing ones.`] : [];
  }
  const effects = doneEffects(first, byStatus?.done ?? 0, statuses);
  if (statuses.length === 0 || from === to) return effects;
  return [
    ...effects,
    laterTasksGetAll
      ? `The status filter is for ${first.name} only. Later tasks get all images that pass their filters.`
      : `The status filter applies to all tasks: images left out now do not reach later tasks, nor do new images without a known origin.`,
  ];
}

/** What becomes of images that are done already. */
function doneEffects({ name, type }: Choices['first'], done: number, statuses: readonly ImageStatus[]): string[] {
  if (statuses.length > 0 && !hasStatusPerImage(type))
    return [`${name} does not run image by image: all its images share one status, so they run again together.`];
  if (done === 0 || statuses.includes('done')) return [];
  const words = `${counted(done, 'image')} that ${plural(done, 'is', 'are')} done for ${name}`;
  if (statuses.length === 0) return [`${words} ${plural(done, 'runs', 'run')} again.`];
  return [`${words} ${plural(done, 'stays as it is', 'stay as they are')}.`];
}

function filterEffects({ isReset, from, to, hasAttributeFilters, hasTypeFilters }: Choices): string[] {
  if (isReset || from === to) return [];
  return [
    ...(hasAttributeFilters
      ? ['The attribute filters apply to all tasks of the job, including images created during it.']
      : []),
    ...(hasTypeFilters ? ['The type filters apply until a task gives its images other types.'] : []),
  ];
}
