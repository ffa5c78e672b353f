/**
 * The counts of a task in a few words: those beside its name, and a note where something wants to be looked at.
 *
 *     figuresOf('parallel', status, state, bar) // '6 failed' in red and strong, ', 1 530 done'
 *     noteOf('parallel', status) // { look: 'failed', text: '6 images out of memory' }
 */
import type { Cause, FullTaskStatus, TaskType } from '@service/contract';
import { plural } from '@service/contract/plural';

import { counted, formatCount } from '../format.ts';
import { causeWords, type State } from '../ui/status.ts';
import { type BarCounts, finishedIn, inUnits, isConverter, onlyStopped } from './counts.ts';

type Look = State['look'];

/** A piece of the line beside a name. */
export interface Figure {
  text: string;
  strong?: boolean;
  look?: Look;
}

/** Why images failed, or that some have warnings. */
export interface Note {
  look: Look;
  text: string;
}

export const words = (text: string, look?: Look): Figure[] => [{ text, ...(look ? { look } : {}) }];

const strong = (text: string, look?: Look): Figure => ({ text, strong: true, ...(look ? { look } : {}) });

export function figuresOf(type: TaskType, status: FullTaskStatus, state: State, bar: BarCounts | undefined): Figure[] {
  if (status.is_starting) return words('starting Python');
  if (status.status === 'submitted') return runningFigures(type, state, bar);
  if (isConverter(type)) {
    if (status.status === 'failed') return unitFigures(state, bar);
    // of imported runs nobody knows how many
    if (status.num_new_images === null) return words(state.word.toLowerCase());
    return [strong(formatCount(status.num_new_images)), { text: ` ${plural(status.num_new_images, 'image')} made` }];
  }
  if (inUnits(type) && status.status === 'failed') return unitFigures(state, bar);
  return imageFigures(status, state);
}

function runningFigures(type: TaskType, { look, word }: State, bar: BarCounts | undefined): Figure[] {
  if (!bar || look === 'waiting') return words(word.toLowerCase());
  const finished = strong(formatCount(finishedIn(bar)));
  const of = ` of ${formatCount(bar.total)}`;
  if (!inUnits(type)) return [finished, { text: of }];
  return bar.total === 1 ? words(word.toLowerCase()) : [finished, { text: `${of} units` }];
}

function unitFigures({ look, word }: State, bar: BarCounts | undefined): Figure[] {
  if (!bar || bar.total === 1 || bar.failed === 0) return words(word.toLowerCase(), look);
  return [
    strong(formatCount(bar.failed), 'failed'),
    { text: ` of ${formatCount(bar.total)} units failed`, look: 'failed' },
  ];
}

function imageFigures(status: FullTaskStatus, state: State): Figure[] {
  const { num_done_images: done, num_failed_images: failed, num_available_images: available } = status;
  if (done + failed === 0) return words(state.word.toLowerCase(), state.look === 'done' ? undefined : state.look);
  const word = onlyStopped(status) ? 'stopped' : 'failed';
  const figures: Figure[] = [];
  if (failed > 0) figures.push(strong(`${formatCount(failed)} ${word}`, word));
  if (failed > 0 && done > 0) figures.push({ text: `, ${formatCount(done)} done` });
  if (failed === 0) figures.push(strong(formatCount(done)), { text: ' done' });
  if (available === null) figures.push({ text: ' of ?' });
  else if (available > done + failed) figures.push({ text: ` of ${formatCount(available)}` });
  return figures;
}

export function noteOf(type: TaskType, status: FullTaskStatus): Note | undefined {
  const why = causesNote(status.causes, inUnits(type) ? 'unit' : 'image');
  if (why !== undefined) return { look: 'failed', text: why };
  if (!status.has_warnings) return undefined;
  const warned = status.num_images_with_warnings;
  return { look: 'warning', text: warned > 0 ? `${formatCount(warned)} with warnings` : 'with warnings' };
}

/** `6 images out of memory` */
export function causesNote(causes: Partial<Record<Cause, number>>, one: 'image' | 'unit'): string | undefined {
  const known = (Object.entries(causes) as [Cause, number][]).filter(
    ([cause, count]) => cause !== 'stopped' && count > 0,
  );
  const [first, ...others] = known;
  if (!first) return undefined;
  const say = ([cause]: [Cause, number]) => causeWords(cause).toLowerCase();
  const head =
    first[0] === 'error' ? `${counted(first[1], one)} with an error` : `${counted(first[1], one)} ${say(first)}`;
  return [head, ...others.map((entry) => `${formatCount(entry[1])} ${say(entry)}`)].join(', ');
}
