/**
 * Which images the first task of a job gets: what the reader chooses, what the task itself fixes, how many are left, and why
 * the others are not among them.
 */
import type { ImageStatus, WorkflowTask } from '@service/contract';

import type { Answer } from '#lib/api/client.ts';
import { type ImagesQuery, valueWords } from '#lib/images/filters.ts';
import { STATUS_WORDS } from '#lib/images/image-state.ts';
import { counted, formatCount } from '../../format.ts';

export type Flags = Record<string, boolean>;

/** The status is that for the first task; none means any. */
export type ImageChoice = Pick<ImagesQuery, 'types' | 'attributes' | 'status'>;

type Flow = Answer<'projects.typeFiltersFlow'>[number];

/** What the tasks before leave behind, under what the task asks for. */
export const initialTypes = (flow: Flow | undefined): Flags => ({
  ...flow?.current_type_filters,
  ...flow?.input_type_filters,
});

/** What the task asks for by itself; by name, since no image needs to have the type yet. */
export const lockedTypes = (task: WorkflowTask): Flags => ({ ...task.task.input_types, ...task.type_filters });

/**
 * The type filters of the job. The service applies the first task's own filters itself, to that task only; sent along they
 * would narrow every later task too. So of a locked type goes what the tasks before leave behind, if anything.
 */
export function jobTypes(types: Flags, locked: Flags, flow: Flow | undefined): Flags {
  const free = Object.entries(types).filter(([key]) => !Object.hasOwn(locked, key));
  const before = Object.entries(flow?.current_type_filters ?? {}).filter(([key]) => Object.hasOwn(locked, key));
  return Object.fromEntries([...free, ...before]);
}

export interface Counts {
  /** In the dataset. */
  all: number;
  /** With the types asked for. */
  ofTypes: number;
  /** By status for the first task, of those that pass types and attributes. */
  byStatus: Record<ImageStatus, number>;
}

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);

const passing = ({ byStatus }: Counts): number => sum(Object.values(byStatus));

/** How many images the first task gets. */
export const chosenCount = (counts: Counts, { status }: Pick<ImageChoice, 'status'>): number =>
  status.length === 0 ? passing(counts) : sum(status.map((one) => counts.byStatus[one]));

const typeWords = (types: Flags): string =>
  Object.entries(types)
    .sort(([one], [other]) => one.localeCompare(other, 'en'))
    .map(([key, value]) => `${key} ${value}`)
    .join(', ');

const attributeWords = (attributes: ImageChoice['attributes']): string =>
  Object.entries(attributes)
    .filter(([, values]) => values.length > 0)
    .map(([key, values]) => `${key} ${values.map(valueWords).join(' or ')}`)
    .join(', ');

const statusWords = (statuses: readonly ImageStatus[]): string =>
  statuses.map((status) => STATUS_WORDS[status].word).join(' or ');

export interface Reason {
  count: number;
  words: string;
}

/** Why the other images of the dataset are not processed, one reason each. */
export function leftOut(counts: Counts, choice: ImageChoice): Reason[] {
  const ofAttributes = passing(counts);
  return [
    { count: counts.all - counts.ofTypes, words: `without the types this task asks for (${typeWords(choice.types)})` },
    {
      count: counts.ofTypes - ofAttributes,
      words: `outside the attribute filters (${attributeWords(choice.attributes)})`,
    },
    {
      count: ofAttributes - chosenCount(counts, choice),
      words: `with another status than ${statusWords(choice.status)}`,
    },
  ].filter(({ count }) => count > 0);
}

/** `384 of 3 072 images` */
export const shareWords = (chosen: number, all: number): string =>
  chosen === all
    ? `All ${counted(all, 'image')}`.replace(/^All 1 /, 'The 1 ')
    : `${formatCount(chosen)} of ${counted(all, 'image')}`;
