/** What somebody should know before they run a workflow: shell lines that they have not run as they are now. */
import type { PreCheck, ShellChange, User } from '@service/contract';

import type { Database } from '../db/index.ts';
import { extraLines, lineChanges } from '../engine/shell-lines.ts';
import { openWorkflow } from '../projects/index.ts';
import { type PresentLines, presentLines, type RanLines, ranLines } from './store/shell-lines.ts';

const NEVER: Pick<RanLines, 'meta_non_parallel' | 'meta_parallel' | 'commands'> = {
  meta_non_parallel: null,
  meta_parallel: null,
  commands: [],
};

/** Where another task was chosen since, or the first, whoever chose it may have brought its command. */
function authorsOf(now: PresentLines, ran: RanLines | undefined) {
  const lines = { changed_by: now.lines_by, timestamp_changed: now.lines_at };
  const command = { changed_by: now.command_by, timestamp_changed: now.command_at };
  const chosen = { changed_by: now.chosen_by, timestamp_changed: now.chosen_at };
  const wasChosen = ran?.task_id !== now.task_id && now.chosen_at !== null && now.chosen_at > now.command_at;
  return { lines, command: wasChosen ? chosen : command };
}

function changesOf(now: PresentLines, ran: RanLines | undefined): ShellChange[] {
  const before = ran ?? NEVER;
  const author = authorsOf(now, ran);
  const found = [
    { source: 'extra_lines', author: author.lines, change: lineChanges(extraLines(before), extraLines(now)) },
    { source: 'command', author: author.command, change: lineChanges(before.commands, now.commands) },
  ] as const;
  const timestamp_last_run = ran?.start_timestamp ?? null;
  return found.flatMap(({ source, author: by, change }) =>
    change === undefined ? [] : { workflowtask_id: now.id, source, ...change, ...by, timestamp_last_run },
  );
}

export async function preCheck(
  db: Database,
  user: User,
  { project_id, workflow_id }: { project_id: number; workflow_id: number },
): Promise<PreCheck> {
  await openWorkflow(db, user, project_id, workflow_id, 'r');
  const [present, ran] = await Promise.all([presentLines(db, workflow_id), ranLines(db, user.id, workflow_id)]);
  const lastRuns = new Map(ran.map((task) => [task.id, task]));
  return { shell_changes: present.flatMap((task) => changesOf(task, lastRuns.get(task.id))) };
}
