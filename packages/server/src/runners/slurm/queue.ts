/**
 * The scheduler's queue, read for everybody at once: one `squeue` serves all jobs that run on a cluster.
 *
 *     const reading = await queue.read([1234, 1240], 5000); // at the latest in five seconds
 *
 * An error of `squeue` is told as one: it says nothing about any job.
 */
import { isPassing, type QueuedJobs, readAccounts, readQueue } from '../../engine/slurm/states.ts';
import { capture, type Command, type Commands, HostAway, HostTimeout } from '../../hosts/index.ts';

/** Two questions are never closer than this, however many jobs want to know. */
const LEAST_GAP_MS = 500;
const LONGEST_ANSWER_MS = 60_000;
/** Ids in one question; more are asked for in several. */
const MOST_IDS = 2000;

/** `complete`: a job that is not in it is not in the queue; else it may just not be shown to the service. */
export type QueueReading = { jobs: QueuedJobs; complete: boolean } | { problem: string };

export interface SlurmQueue {
  /** A reading that is made after this call, within `withinMs`. */
  read(ids: readonly number[], withinMs: number): Promise<QueueReading>;
  /** What the accounting of the cluster knows of jobs that the queue has forgotten; nothing where there is none. */
  history(ids: readonly number[]): Promise<QueuedJobs>;
  /** The id of the job that was submitted with this token; null where the queue has none, undefined where it did not answer. */
  find(token: string): Promise<number | null | undefined>;
}

const FORMAT = '%F|%K|%A|%T|%r|%N';
const UNKNOWN_ID = /Invalid job id specified/i;

/** What a command printed, or why it did not. */
async function ask(commands: Commands, command: Command): Promise<{ text: string } | { problem: string }> {
  try {
    // condensed lists of waiting elements are cut after 64 characters otherwise
    const env = { SLURM_BITSTR_LEN: '0' };
    const { code, stdout, stderr } = await capture(commands, command, { timeoutMs: LONGEST_ANSWER_MS, env });
    if (code === 0) return { text: stdout.toString('utf8') };
    return UNKNOWN_ID.test(stderr) ? { text: '' } : { problem: stderr.trim() || `${command[0]} ended with ${code}` };
  } catch (error) {
    if (error instanceof HostAway || error instanceof HostTimeout) return { problem: error.message };
    throw error;
  }
}

async function list(commands: Commands, ids: number[]): Promise<{ jobs: QueuedJobs } | { problem: string }> {
  const texts: string[] = [];
  for (let start = 0; start < ids.length; start += MOST_IDS) {
    const which = `--jobs=${ids.slice(start, start + MOST_IDS).join(',')}`;
    const answer = await ask(commands, ['squeue', '--noheader', '--states=all', `--format=${FORMAT}`, which]);
    if ('problem' in answer) return answer;
    texts.push(answer.text);
  }
  return { jobs: readQueue(texts.join('\n')) };
}

/** `PrivateData = jobs,usage` keeps jobs from others; `none`, the usual, does not. */
async function isOpen(commands: Commands): Promise<boolean | undefined> {
  const answer = await ask(commands, ['scontrol', 'show', 'config']).catch(() => ({ problem: 'cannot be asked' }));
  if ('problem' in answer) return undefined;
  const [, hidden] = /^PrivateData\s*=\s*(.*)$/m.exec(answer.text) ?? [];
  return hidden === undefined ? undefined : !/\b(jobs|all)\b/.test(hidden);
}

type Listing = Awaited<ReturnType<typeof list>>;

interface Waiting {
  ids: readonly number[];
  due: number;
  resolve(listing: Listing): void;
}

export interface SharedQueue {
  commands: Commands;
  /** Whether this cluster shows everybody the jobs of everybody; false where it does not say. */
  showsAll(): Promise<boolean>;
  read(ids: readonly number[], withinMs: number): Promise<Listing>;
}

/** Puts the questions of all who wait into one. */
export function createSharedQueue(commands: Commands): SharedQueue {
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;
  let lastAsked = 0;

  function schedule(): void {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    const due = Math.max(lastAsked + LEAST_GAP_MS, Math.min(...waiting.map((one) => one.due)));
    timer = setTimeout(() => void answer(), Math.max(0, due - Date.now()));
  }

  async function answer(): Promise<void> {
    const asking = waiting;
    waiting = [];
    lastAsked = Date.now();
    const ids = [...new Set(asking.flatMap((one) => one.ids))].sort((one, other) => one - other);
    const listing = await list(commands, ids).catch((error: Error) => ({ problem: error.message }));
    lastAsked = Date.now();
    for (const one of asking) one.resolve(listing);
    schedule();
  }

  let open: boolean | undefined;
  return {
    commands,
    showsAll: async () => (open ??= await isOpen(commands)) ?? false,
    read: (ids, withinMs) =>
      new Promise((resolve) => {
        waiting.push({ ids, due: Date.now() + withinMs, resolve });
        schedule();
      }),
  };
}

interface Parts {
  shared: SharedQueue;
  username: string;
  /** The person, where the queue is read by somebody else: clusters may show people only their own jobs. */
  person?: Commands;
}

/** The queue for the jobs of one person. */
export function createSlurmQueue({ shared, username, person }: Parts): SlurmQueue {
  const { commands } = shared;
  let personAnswers = person !== undefined;
  return {
    async read(ids, withinMs) {
      const listing = await shared.read(ids, withinMs);
      if ('problem' in listing) return listing;
      const { jobs } = listing;
      const unseen = ids.filter((id) => !jobs.has(id));
      if (!person || unseen.length === 0 || (await shared.showsAll())) return { jobs, complete: true };
      if (!personAnswers) return { jobs, complete: false };
      const own = await list(person, unseen).catch((error: Error) => ({ problem: error.message }));
      if ('jobs' in own) return { jobs: new Map([...jobs, ...own.jobs]), complete: true };
      // most sites let the service run no squeue for a person; then it is not asked again
      personAnswers = isPassing(own.problem);
      return { jobs, complete: false };
    },
    async history(ids) {
      const format = '--format=JobID,State,ExitCode,NodeList';
      const command = [
        'sacct',
        '--noheader',
        '--parsable2',
        '--allocations',
        `--jobs=${ids.join(',')}`,
        format,
      ] as const;
      const answer = await ask(commands, command).catch((error: Error) => ({ problem: error.message }));
      return 'text' in answer ? readAccounts(answer.text) : new Map();
    },
    async find(token) {
      const command = ['squeue', '--noheader', '--states=all', '--format=%F|%k', `--user=${username}`] as const;
      const answer = await ask(commands, command);
      if ('problem' in answer) return undefined;
      const line = answer.text.split('\n').find((one) => one.trim().endsWith(`|${token}`));
      return line === undefined ? null : Number(line.split('|')[0]);
    },
  };
}
