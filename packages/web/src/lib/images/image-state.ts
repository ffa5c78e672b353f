/** What a task did with an image, in words and shapes; and which of many is the worst. */
import type { ImageStatus } from '@service/contract';

import { counted, secondsBetween } from '../format.ts';
import { errorOf } from '../logs/equal-errors.ts';
import { causeWords, type State } from '../ui/status.ts';
import { type ListedImage, STATUS_KEY } from './filters.ts';

export const statusOf = (image: ListedImage): ImageStatus =>
  (image.attributes[STATUS_KEY] as ImageStatus | undefined) ?? 'unset';

function doneState({ has_warnings, unit }: ListedImage): State {
  if (!has_warnings) return { look: 'done', word: 'Done' };
  const warnings = unit?.num_warnings ?? 0;
  return { look: 'warning', word: `Done, ${warnings > 0 ? counted(warnings, 'warning') : 'with warnings'}` };
}

/** The wire has one word for waiting and running; the unit tells them apart. */
function submittedState({ unit }: ListedImage): State {
  if (unit === undefined) return { look: 'waiting', word: 'Waiting or running' };
  return unit?.started ? { look: 'running', word: 'Running' } : { look: 'waiting', word: 'Waiting' };
}

export function imageState(image: ListedImage): State {
  const cause = image.unit?.cause ?? null;
  switch (statusOf(image)) {
    case 'done':
      return doneState(image);
    case 'submitted':
      return submittedState(image);
    case 'failed':
      return { look: cause === 'stopped' ? 'stopped' : 'failed', word: causeWords(cause) };
    case 'unset':
      return { look: 'unset', word: 'Not run' };
  }
}

export const shortMessage = (image: ListedImage): string => errorOf(image.unit?.message);

export function seconds(image: ListedImage): number | undefined {
  const { timestamp_started: from, timestamp_ended: to } = image.unit ?? {};
  return from && to ? secondsBetween(from, to) : undefined;
}

/** The loudest first. */
const WORST: State['look'][] = ['failed', 'stopped', 'running', 'waiting', 'warning', 'done', 'unset'];

export const worse = (one: State['look'], other: State['look']): State['look'] =>
  WORST.indexOf(one) <= WORST.indexOf(other) ? one : other;

export const STATUS_WORDS: Record<ImageStatus, { look: State['look']; word: string }> = {
  failed: { look: 'failed', word: 'failed' },
  submitted: { look: 'waiting', word: 'waiting or running' },
  done: { look: 'done', word: 'done' },
  unset: { look: 'unset', word: 'not run' },
};
