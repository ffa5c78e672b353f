/**
 * The scheduler's queue, read for everybody at once: one `squeue` serves all jobs that run on a cluster.
 *
 *     const reading = await queue.read([1234, 1240], 5000); // at the latest in five seconds
 *
 * An error of `squeue` is told as one: it says nothing about any job.
 */
import { randomBytes } from 'node:crypto';

import { isOfKind } from '@service/contract/errors';

import { type QueuedJobs, readAccounts, readJobId, readQueue } from '../engine/slurm/queue.ts';
import { isSlurmAway } from '../engine/slurm/refusals.ts';
import { guarded } from '../guard.ts';
import { capture, type Command, type Commands, type RunOptions } from '../hosts/index.ts';
import { isAway } from './away.ts';

/** Two questions are never closer than this, however many jobs want to know. */
const LEAST_GAP_MS = 500;
const LONGEST_ANSWER_MS = 60_000;
/** Ids in one question; more are asked for in several. */
const MOST_IDS = 2000;

/** Why there is no answer; `passing` where it helps to ask again. */
interface NoAnswer {
  problem: string;
  passing: boolean;
}

/** `complete`: a job that is not in it is not in the queue; else it may just not be shown to the service. */
export type QueueReading = { jobs: QueuedJobs; complete: boolean } | { problem: string };

export interface SlurmQueue {
  /** A reading that is made after this call, within `withinMs`. */
  read(ids: readonly number[], withinMs: number): Promise<QueueReading>;
  /** What the accounting of the cluster knows of jobs that the queue has forgotten; nothing where there is none. */
  history(ids: readonly number[]): Promise<QueuedJobs>;
  /** The jobs of the person that carry a mark. */
  find(mark: Mark): Promise<{ ids: number[] } | NoAnswer>;
}

/** How a job is found again: any job by a token in its comment, one that is not over by its name. */
export type Mark = { token: string } | { name: string };

export const newToken = (): string => `service-${randomBytes(12).toString('hex')}`;
const TOKEN = /^service-[0-9a-f]+$/;

/** The columns are the id and the mark. */
function questionAbout(mark: Mark): string[] {
  if ('name' in mark) return ['--format=%F|%j', `--name=${mark.name}`];
  if (!TOKEN.test(mark.token)) throw new Error(`${JSON.stringify(mark.token)} is not a token of the service.`);
  return ['--states=all', '--format=%F|%k'];
}

/** Comments and names are texts of the person: only a line that is nothing else than an id and the mark counts. */
function idsMarked(mark: Mark, printed: string): number[] {
  const wanted = 'name' in mark ? mark.name : mark.token;
  const lines = printed.split('\n').map((line) => /^(\d{1,10})\|(\S+)$/.exec(line.trim()) ?? []);
  return [...new Set(lines.flatMap(([, id, marked]) => (marked === wanted ? (readJobId(id!) ?? []) : [])))];
}

const FORMAT = '%F|%K|%A|%T|%r|%N';
const UNKNOWN_ID = /Invalid job id specified/i;
/** What `squeue` says when it does not take its words. */
const ABOUT_IDS = /invalid|job id|parse|argument/i;
const MOST_HALVINGS = 60;

/** `refused`: ids that `squeue` does not take at all, and what it said. */
interface Listing {
  jobs: QueuedJobs;
  refused: Map<number, string>;
}

type Answer = { jobs: QueuedJobs } | { problem: string };

type AskOptions = Pick<RunOptions, 'env' | 'timeoutMs'>;

/** Without it, condensed lists of waiting elements are cut after 64 characters. */
export const WHOLE_LISTS = { SLURM_BITSTR_LEN: '0' };

export async function ask(
  commands: Commands,
  command: Command,
  options: AskOptions = {},
): Promise<{ text: string } | NoAnswer> {
  try {
    const { code, stdout, stderr } = await capture(commands, command, { timeoutMs: LONGEST_ANSWER_MS, ...options });
    if (code === 0) return { text: stdout.toString('utf8') };
    if (UNKNOWN_ID.test(stderr)) return { text: '' };
    return { problem: stderr.trim() || `${command[0]} ended with ${code}`, passing: isSlurmAway(stderr) };
  } catch (error) {
    if (isAway(error)) return { problem: error.message, passing: true };
    throw error;
  }
}

type List = (ids: readonly number[]) => Promise<{ text: string } | NoAnswer>;

const questionFor = (ids: readonly number[]) =>
  ['squeue', '--noheader', '--states=all', `--format=${FORMAT}`, `--jobs=${ids.join(',')}`] as const;
const listing =
  (commands: Commands): List =>
  (ids) =>
    ask(commands, questionFor(ids), { env: WHOLE_LISTS });
/** sudo hands no variable on. Of a list that is cut, elements are as the list says, or wait. */
const listingThroughSudo =
  (commands: Commands): List =>
  (ids) =>
    ask(commands, questionFor(ids));

/**
 * Lists jobs. Where `squeue` does not take one of the ids, it says nothing about all the others: then they are asked for in
 * halves, until the one that is to blame stands alone.
 */
async function list(listSome: List, ids: readonly number[]): Promise<Listing | NoAnswer> {
  const listed: Listing = { jobs: new Map(), refused: new Map() };
  const groups: (readonly number[])[] = [];
  for (let start = 0; start < ids.length; start += MOST_IDS) groups.push(ids.slice(start, start + MOST_IDS));
  let halvings = 0;
  for (let group = groups.shift(); group; group = groups.shift()) {
    const answer = await listSome(group);
    if ('text' in answer) {
      for (const [id, job] of readQueue(answer.text)) listed.jobs.set(id, job);
      continue;
    }
    const isAboutIds = !answer.passing && ABOUT_IDS.test(answer.problem);
    if (!isAboutIds || halvings >= MOST_HALVINGS) return answer;
    halvings += 1;
    const middle = Math.ceil(group.length / 2);
    if (group.length === 1) listed.refused.set(group[0]!, answer.problem);
    else groups.unshift(group.slice(0, middle), group.slice(middle));
  }
  return listed;
}

/** `PrivateData = jobs,usage` keeps jobs from others; `none`, the usual, does not. */
async function isOpen(commands: Commands): Promise<boolean | undefined> {
  const answer = await ask(commands, ['scontrol', 'show', 'config']).catch(() => ({ problem: 'cannot be asked' }));
  if ('problem' in answer) return undefined;
  const [, hidden] = /^PrivateData\s*=\s*(.*)$/m.exec(answer.text) ?? [];
  return hidden === undefined ? undefined : !/\b(jobs|all)\b/.test(hidden);
}

interface Waiting {
  ids: readonly number[];
  due: number;
  resolve(answer: Answer): void;
}

export interface SharedQueue {
  commands: Commands;
  /** Whether this cluster shows everybody the jobs of everybody; false where it does not say. */
  showsAll(): Promise<boolean>;
  read(ids: readonly number[], withinMs: number): Promise<Answer>;
}

/** Puts the questions of all who wait into one, and asks one at a time: a controller that is away is not asked by a crowd. */
export function createSharedQueue(commands: Commands): SharedQueue {
  let waiting: Waiting[] = [];
  let isAsking = false;
  let timer: NodeJS.Timeout | undefined;
  let lastAsked = 0;

  function schedule(): void {
    clearTimeout(timer);
    timer = undefined;
    if (isAsking || waiting.length === 0) return;
    const due = Math.max(lastAsked + LEAST_GAP_MS, Math.min(...waiting.map((one) => one.due)));
    timer = setTimeout(guarded(answer, failAll), Math.max(0, due - Date.now()));
  }

  function takeAll(): Waiting[] {
    const all = waiting;
    waiting = [];
    return all;
  }

  /** A defect here is told to those who wait, as any other problem. */
  function failAll(error: Error): void {
    for (const one of takeAll()) one.resolve({ problem: error.message });
    schedule();
  }

  async function answer(): Promise<void> {
    const asking = takeAll();
    isAsking = true;
    const ids = [...new Set(asking.flatMap((one) => one.ids))].sort((one, other) => one - other);
    const listed = await list(listing(commands), ids).catch((error: Error) => ({ problem: error.message }));
    isAsking = false;
    lastAsked = Date.now();
    for (const one of asking) {
      const refused = 'refused' in listed ? one.ids.find((id) => listed.refused.has(id)) : undefined;
      one.resolve(refused === undefined ? listed : { problem: (listed as Listing).refused.get(refused)! });
    }
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
  /** The person, through sudo, where the queue is read by somebody else: clusters may show people only their own jobs. */
  person?: Commands;
}

/** Whatever else goes wrong with the question, such as a machine that starts no process, may go well the next time. */
const notAsked = (error: Error): NoAnswer => ({
  problem: error.message,
  passing: !isOfKind(error, 'sudo-refused'),
});

/** The queue for the jobs of one person. */
export function createSlurmQueue({ shared, username, person }: Parts): SlurmQueue {
  const { commands } = shared;
  let personAnswers = person !== undefined;
  return {
    async read(ids, withinMs) {
      const seen = await shared.read(ids, withinMs);
      if ('problem' in seen) return seen;
      const { jobs } = seen;
      const unseen = ids.filter((id) => !jobs.has(id));
      if (!person || unseen.length === 0 || (await shared.showsAll())) return { jobs, complete: true };
      if (!personAnswers) return { jobs, complete: false };
      const own = await list(listingThroughSudo(person), unseen).catch(notAsked);
      // of an id that squeue does not take nothing is known
      if ('jobs' in own) return { jobs: new Map([...jobs, ...own.jobs]), complete: own.refused.size === 0 };
      // most sites let the service run no squeue for a person; then it is not asked again
      personAnswers = own.passing;
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
    async find(mark) {
      const question = questionAbout(mark);
      const answer = await ask(commands, ['squeue', '--noheader', `--user=${username}`, ...question]);
      if ('problem' in answer) return answer;
      return { ids: idsMarked(mark, answer.text) };
    },
  };
}
