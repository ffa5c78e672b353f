/** What the history of an image says about now: which task works on it, and which wrote it since somebody looked. */
import type { ImageHistory, TaskOfImage } from '@service/contract';

const tasksOf = ({ made_by, worked_on_by }: ImageHistory): TaskOfImage[] => [
  ...(made_by ? [made_by] : []),
  ...worked_on_by,
];

export const runningOf = (history: ImageHistory): TaskOfImage | undefined =>
  tasksOf(history).find(({ status }) => status === 'submitted');

/** What ended between two answers, the last of it. */
export function endedSince(before: ImageHistory, now: ImageHistory): TaskOfImage | undefined {
  const known = new Set(
    tasksOf(before)
      .filter(({ status }) => status !== 'submitted')
      .map(({ history_run_id }) => history_run_id),
  );
  return tasksOf(now).findLast(({ status, history_run_id }) => status !== 'submitted' && !known.has(history_run_id));
}
