/**
 * Reads what `squeue -h -t all -o '%F|%K|%A|%T|%r|%N'` and `sacct -n -P -X --format=JobID,State,ExitCode,NodeList` print.
 *
 *     readQueue('12|0|13|RUNNING|None|n1\n12|1-9%4|12|PENDING|Priority|').get(12)
 *     // element 0 runs as job 13; elements 1 to 9 wait
 *
 * Elements of an array that are alike may share a line with a list of indexes. Slurm may cut that list off (`1,3,5,...`);
 * then every element without a line of its own is as that line says.
 */
import { stateKind } from './states.ts';

export interface QueuedElement {
  /** Null where only the array's is known. */
  jobId: number | null;
  state: string;
  /** Why it waits, or how it ended, in a word of Slurm's. */
  reason: string;
  node: string;
  /** Exit code and signal, as accounting writes them: `0:9`. */
  exit?: string;
}

interface QueuedJob {
  /** By index in the array; 0 for a job that is no array. */
  elements: Map<number, QueuedElement>;
  /** What elements without an entry are, where the list of them was cut off. */
  rest: QueuedElement | null;
  /** They wait. */
  pendingRest: boolean;
  /** Why the waiting ones wait; empty when none does. */
  reason: string;
}

/** By the id that `sbatch` printed. */
export type QueuedJobs = Map<number, QueuedJob>;

/** Slurm counts jobs with 32 bits. */
const LARGEST_ID = 2 ** 31 - 1;
/** More indexes than any array has are not worth the memory. */
const MOST_INDEXES = 1_000_000;

function add(jobs: QueuedJobs, id: number, list: string, element: QueuedElement): void {
  const job = jobs.get(id) ?? newJob();
  jobs.set(id, job);
  const { indexes, complete } = readIndexes(list);
  const isOne = complete && indexes.length === 1;
  for (const index of indexes) {
    // a line of its own knows better than a list
    if (isOne || !job.elements.has(index)) job.elements.set(index, element);
  }
  const { finished } = stateKind(element.state);
  // two lists that were cut off do not tell which element is in which: then waiting is the safe answer
  if (!complete && (job.rest === null || !finished)) job.rest = element;
  job.pendingRest ||= !complete && !finished;
  if (/^PENDING/i.test(element.state)) job.reason = element.reason;
}

const newJob = (): QueuedJob => ({ elements: new Map(), rest: null, pendingRest: false, reason: '' });

/** `N/A`, `7`, `3-17%4`, `[5,7-9]`, `0-12:4` or, cut off, `1,3,1...`. */
function readIndexes(list: string): { indexes: number[]; complete: boolean } {
  const text = list
    .trim()
    .replace(/^\[|\]$/g, '')
    .replace(/%\d*$/, '');
  if (text === '' || /^N\/A$/i.test(text)) return { indexes: [0], complete: true };
  const isCut = text.endsWith('...');
  const parts = text.replace(/\.+$/, '').split(',');
  // where it was cut, a number may have lost digits
  if (isCut) parts.pop();
  const indexes: number[] = [];
  for (const part of parts) {
    const [, first, last = first, step = '1'] = /^(\d+)(?:-(\d+)(?::(\d+))?)?$/.exec(part) ?? [];
    if (first === undefined || (Number(last) - Number(first)) / Number(step) + indexes.length > MOST_INDEXES) {
      return { indexes, complete: false };
    }
    for (let index = Number(first); index <= Number(last); index += Math.max(1, Number(step))) indexes.push(index);
  }
  return { indexes, complete: !isCut };
}

/** The id in what `sbatch --parsable` prints, behind what a site may print before it: `12`, or `12;cluster`. */
export function readJobId(printed: string): number | undefined {
  const [, id] = /^(\d{1,10})(?:;\S+)?$/.exec(printed.trim().split('\n').at(-1)!.trim()) ?? [];
  return id === undefined || Number(id) < 1 || Number(id) > LARGEST_ID ? undefined : Number(id);
}

const linesOf = (text: string) => text.split('\n').filter((line) => line.trim() !== '');

export function readQueue(text: string): QueuedJobs {
  const jobs: QueuedJobs = new Map();
  for (const line of linesOf(text)) {
    const [id = '', list = '', jobId = '', state = '', ...rest] = line.trim().split('|');
    if (!/^\d+$/.test(id) || state === '') continue;
    // a reason may hold the sign between two columns, a list of nodes cannot
    const [node, reason] = [rest.pop() ?? '', rest.join('|')];
    add(jobs, Number(id), list, {
      jobId: /^\d+$/.test(jobId) ? Number(jobId) : null,
      state,
      reason: isNone(reason) ? '' : reason,
      node: isNone(node) ? '' : node,
    });
  }
  return jobs;
}

const isNone = (text: string) => /^(none( assigned)?|n\/a|\(null\))$/i.test(text);

/** As `readQueue`, from accounting, which still knows jobs that the queue has forgotten. */
export function readAccounts(text: string): QueuedJobs {
  const jobs: QueuedJobs = new Map();
  for (const line of linesOf(text)) {
    const [name = '', state = '', exit = '', node = ''] = line.trim().split('|');
    const [, id, list] = /^(\d+)(?:_(\[?[\d,:%.-]+\]?))?$/.exec(name) ?? [];
    if (id === undefined || state === '') continue;
    const jobId = list === undefined ? Number(id) : null;
    add(jobs, Number(id), list ?? 'N/A', { jobId, state, reason: '', node: isNone(node) ? '' : node, exit });
  }
  return jobs;
}
