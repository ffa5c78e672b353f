/**
 * The states of Slurm jobs, and what people are told about how one ended.
 *
 *     stateKind('CANCELLED by 1002') // { finished: true, kind: 'cancelled' }
 */
export type EndKind =
  | 'completed'
  | 'failed'
  | 'time_limit'
  | 'memory'
  | 'node'
  | 'preempted'
  | 'cancelled'
  | 'boot'
  | 'unknown';

const KINDS: Partial<Record<string, EndKind>> = {
  BOOT_FAIL: 'boot',
  CANCELLED: 'cancelled',
  COMPLETED: 'completed',
  DEADLINE: 'time_limit',
  FAILED: 'failed',
  NODE_FAIL: 'node',
  OUT_OF_MEMORY: 'memory',
  PREEMPTED: 'preempted',
  SPECIAL_EXIT: 'failed',
  TIMEOUT: 'time_limit',
};

/** A state that is not known is not an end: the next answer may be clearer. */
export function stateKind(state: string): { finished: boolean; kind: EndKind } {
  // `CANCELLED by 1002`, or `CANCELLED+` where the column was too narrow for that
  const [word = ''] = state.trim().toUpperCase().split(/[\s+]/);
  const kind = KINDS[word];
  return { finished: kind !== undefined, kind: kind ?? 'unknown' };
}

const WORDS: Record<EndKind | 'gone', string> = {
  completed: 'The Slurm job has ended, but the outcome of this part did not arrive. Run the task again.',
  failed: 'The Slurm job failed before this was done. Look at its error output, and run the task again.',
  time_limit: 'The time limit of the Slurm job was reached. Give the task more time, or put fewer units into a job.',
  memory: 'The Slurm job used more memory than it had asked for. Give the task more memory, or smaller images.',
  node: 'The node failed while this ran. Run the task again.',
  preempted: 'Slurm took the node back for a job with a higher priority. Run the task again.',
  cancelled:
    'The job was cancelled in Slurm, not by this service. Run the task again, or ask the administrators of the cluster.',
  boot: 'The node of the Slurm job did not start. Run the task again.',
  unknown: 'Slurm does not say how the job ended. Run the task again.',
  gone: 'Slurm no longer knows the job, and it left no outcome. Run the task again.',
};

/** What happened, and what to do now; `gone` is a job that Slurm has forgotten. */
export const endWords = (kind: EndKind | 'gone'): string => WORDS[kind];
