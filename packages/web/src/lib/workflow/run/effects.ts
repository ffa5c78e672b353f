/** What the choices of the run dialog do on the service, in words: nothing of it is left for the reader to find out. */
import type { ImageStatus, TaskType } from '@service/contract';

import { counted } from '#lib/ui/format.ts';

import { hasStatusPerImage, isConverter, type RunMode } from './tasks.ts';

export interface Choices {
  mode: RunMode;
  first: { name: string; type: TaskType };
  /** Tasks of the job. */
  count: number;
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

/** In the order in which they matter. */
export function effectsOf(choices: Choices): string[] {
  return [
    ...resetEffects(choices),
    ...statusEffects(choices),
    ...filterEffects(choices),
    choices.count > 1
      ? 'The tasks run one after the other. If an image fails, the other images of that task still finish and keep their results; later tasks do not start.'
      : 'If an image fails, the other images still finish and keep their results.',
  ];
}

function resetEffects({ mode, keepsOld }: Choices): string[] {
  if (mode !== 'reset') return [];
  return keepsOld
    ? [
        'The new dataset begins without images and without history. The old one stays as it is. Both write to the same folder.',
      ]
    : [
        'The image list and the history of this dataset are forgotten, and it gets a new number and no star. Files on disk stay.',
        'The old dataset is removed only after the new one is there and its job is taken. If one of these is refused, everything stays as it was.',
      ];
}

function statusEffects({ mode, first, count, byStatus, statuses, laterTasksGetAll }: Choices): string[] {
  if (mode === 'reset' || isConverter(first.type)) {
    return isConverter(first.type) ? [`${first.name} makes its images itself and takes none from the list.`] : [];
  }
  if (statuses.length === 0) {
    const done = byStatus?.done ?? 0;
    return done > 0
      ? [`${counted(done, 'image')} that ${done === 1 ? 'is' : 'are'} done for ${first.name} run again.`]
      : [];
  }
  const effects = hasStatusPerImage(first.type)
    ? []
    : [`${first.name} does not run image by image: all its images share one status, so that they run again together.`];
  if (count === 1) return effects;
  return [
    ...effects,
    laterTasksGetAll
      ? `The status filter is for ${first.name} only. Later tasks get all images that pass their filters.`
      : `The status filter holds for all tasks: images left out now do not reach later tasks, nor do new images without a known origin.`,
  ];
}

function filterEffects({ mode, count, hasAttributeFilters, hasTypeFilters }: Choices): string[] {
  if (mode === 'reset' || count === 1) return [];
  return [
    ...(hasAttributeFilters
      ? ['The attribute filters hold for all tasks of the job, also for images made during it.']
      : []),
    ...(hasTypeFilters ? ['The type filters hold until a task gives its images other types.'] : []),
  ];
}
