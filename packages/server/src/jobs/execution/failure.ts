/** Why the run of a task failed, in words for notices and for the log of the job. */
import {
  cleanText,
  endOfLog,
  LONGEST_QUOTED_END,
  LONGEST_QUOTED_LOG,
  type QuotedLog,
  unitErrorText,
} from '../../engine/failures.ts';
import { firstLine } from '../../engine/text.ts';
import { bytesBetween, collect } from '../../hosts/index.ts';
import { type JobFolder, openLog } from '../files/index.ts';
import type { SnapshotTask } from '../snapshot.ts';
import * as store from '../store/execution.ts';
import { type JobContext, read } from './context.ts';

/** A sentence for notices, and a text for the log of the job. */
export interface TaskFailure extends store.RunFailure {
  text: string;
}

/** A character has at most so many. */
const BYTES = 4;

/** The whole log, where it is short enough to be quoted, else its end; nothing when there is none. */
async function quotedLog(job: JobFolder, logfile: string): Promise<QuotedLog> {
  try {
    const file = await openLog(job, logfile);
    if (!file) return { text: '' };
    const { handle, size: bytes } = file;
    try {
      const begin = bytes > BYTES * LONGEST_QUOTED_LOG ? bytes - BYTES * LONGEST_QUOTED_END : 0;
      const text = cleanText((await collect(bytesBetween(handle, begin, bytes))).toString('utf8'));
      return begin === 0 && text.length <= LONGEST_QUOTED_LOG ? { text } : { text: endOfLog(text), bytes };
    } finally {
      await handle.close();
    }
  } catch {
    return { text: '' };
  }
}

const ENDED_BY_ITSELF = ['error', 'signal', 'memory'];
/** Of these the number alone tells little; the message of the unit begins with what it means. */
const EXPLAINED = ['signal', 'memory'];

/** Undefined for a run that is done. What it says is read back, so that it is the same after an interruption. */
export async function failureOfRun(
  context: JobContext,
  runId: number,
  { task }: SnapshotTask,
): Promise<TaskFailure | undefined> {
  const { failure, unit } = await read(context, (db) => store.failureOfRun(db, runId));
  if (!failure) return undefined;
  if (!unit || (failure.kind === 'output' && unit.cause === 'output')) return { ...failure, text: failure.message };
  const single = unit.is_init || task.command_parallel === null;
  const text = unitErrorText({
    exit_code: unit.exit_code,
    signal: unit.signal,
    log: await quotedLog(context.job, unit.logfile),
    command: (single ? task.command_non_parallel : task.command_parallel) ?? '',
    logfile: unit.logfile,
    problem: ENDED_BY_ITSELF.includes(unit.cause) ? null : unit.message,
    reason: EXPLAINED.includes(unit.cause) ? firstLine(unit.message) : null,
  });
  return { ...failure, text: failure.kind === 'stopped' ? `${failure.message}\n${text}` : text };
}
