/**
 * Carries out commands as one Slurm job, on a place that has Slurm.
 *
 * What the job prints goes to the log while it runs. Only its marker says that it worked; an answer that cannot be had,
 * from Slurm or from the place, says nothing and is asked for again. A job has the name of its activity, so that the next
 * attempt finds one that an interrupted service left, and ends it first.
 */
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';

import { isPassing, stateKind } from '../../engine/slurm/states.ts';
import { capture, type Command, HostAway, HostTimeout } from '../../hosts/index.ts';
import { type Run, StepFailed } from './run.ts';
import {
  type Answer,
  filesOf,
  jobIdOf,
  lastLine,
  type ScriptCommand,
  type Sighting,
  sightingIn,
  type SlurmConfig,
  submissionScript,
} from './slurm-step.ts';

export interface SlurmPlace {
  config: SlurmConfig;
  /** The name of the job. */
  name: string;
  /** Where script, output and marker go, and how their names begin. */
  folder: string;
  prefix: string;
  pollMs: number;
  /** Aborted when the service ends: the job goes on, and the next attempt ends it. */
  signal: AbortSignal;
}

/** A command on the login node that takes longer than this hangs. */
const LONGEST_ANSWER_MS = 120_000;
/** For how long Slurm or the place may say nothing, before the job is given up. */
const SILENCE_MS = 30 * 60_000;
/** A file written on a node may be seen elsewhere only after a while. */
const MARKER_MS = 30_000;
const LOOK_FOR_MARKER_MS = 500;
/** Of what a job prints: read at a time, and read at all. */
const LARGEST_STEP = 2 ** 20;
const LARGEST_OUTPUT = 64 * 2 ** 20;
const LONGEST_LAST_LINE = 10_000;
/** How long a job takes to go after scancel, at most. */
const CANCEL_MS = 60_000;

const isAway = (error: unknown) => (error instanceof HostAway && !error.needsPerson) || error instanceof HostTimeout;

async function ask(run: Run, command: Command): Promise<Answer> {
  const { code, stdout, stderr } = await capture(run.host, command, { cwd: '/', timeoutMs: LONGEST_ANSWER_MS });
  return { code, stdout: stdout.toString(), stderr };
}

type Asked<T> = { answer: T } | { why: string };

/** Asks until there is an answer, for as long as silence is borne. */
async function untilAnswered<T>(run: Run, { pollMs, signal }: SlurmPlace, what: () => Promise<Asked<T>>): Promise<T> {
  const end = Date.now() + SILENCE_MS;
  let told: string | undefined;
  for (;;) {
    const got = await what().catch((error: Error): Asked<T> => {
      if (!isAway(error) || Date.now() > end) throw error;
      return { why: error.message };
    });
    if ('answer' in got) return got.answer;
    if (Date.now() > end) throw new StepFailed(`Slurm does not answer: ${got.why}`);
    if (told !== got.why) run.say(`No answer, asking again: ${got.why}`, 'WARNING');
    told = got.why;
    await sleep(pollMs, undefined, { signal });
  }
}

const QUEUE = ['squeue', '--noheader', '--format=%i %T'] as const;
/** A job, or an element of an array. */
const JOB_ID = /^\d{1,10}(_\S+)?$/;

type Seen = Exclude<Sighting, { is: 'unknown' }>;

const look = (run: Run, slurm: SlurmPlace, id: string): Promise<Seen> =>
  untilAnswered<Seen>(run, slurm, async () => {
    const seen = sightingIn(await ask(run, [...QUEUE, '--states=all', `--jobs=${id}`]), id);
    return seen.is === 'unknown' ? { why: seen.why } : { answer: seen };
  });

/** The jobs of this name that are not over. Somebody else may have given a job of theirs the same name. */
const jobsCalled = (run: Run, slurm: SlurmPlace): Promise<string[]> =>
  untilAnswered<string[]>(run, slurm, async () => {
    const { code, stdout, stderr } = await ask(run, [...QUEUE, '--me', `--name=${slurm.name}`]);
    if (code === 0) {
      const ids = stdout.split('\n').map((line) => line.trim().split(/\s+/)[0]!);
      return { answer: ids.filter((id) => JOB_ID.test(id)) };
    }
    if (isPassing(stderr)) return { why: lastLine(stderr) };
    throw new StepFailed(`squeue ended with ${code}: ${lastLine(stderr)}`);
  });

/** Ends the jobs of an earlier attempt, and waits until they are gone: they write where the next one does. */
export async function cancelEarlier(run: Run, slurm: SlurmPlace): Promise<void> {
  const end = Date.now() + CANCEL_MS;
  let ids = await jobsCalled(run, slurm);
  if (ids.length > 0) run.say(`Cancelling the Slurm job ${ids.join(', ')}`);
  while (ids.length > 0) {
    await ask(run, ['scancel', ...ids]);
    await sleep(Math.min(slurm.pollMs, 1000), undefined, { signal: slurm.signal });
    ids = await jobsCalled(run, slurm);
    if (Date.now() > end) throw new StepFailed(`The Slurm job ${ids.join(', ')} was cancelled and does not end.`);
  }
}

/** When sbatch gets no answer, the job may have been taken all the same; then it is in the queue under its name. */
async function submit(run: Run, slurm: SlurmPlace, script: string): Promise<string> {
  let mayBeThere = false;
  return untilAnswered<string>(run, slurm, async () => {
    const [earlier] = mayBeThere ? await jobsCalled(run, slurm) : [];
    if (earlier !== undefined) return { answer: earlier };
    mayBeThere = true;
    const { code, stdout, stderr } = await ask(run, ['sbatch', '--parsable', script]);
    if (code === 0) return { answer: jobIdOf(stdout) };
    if (isPassing(stderr)) return { why: lastLine(stderr) };
    throw new StepFailed(`Slurm did not take the job: ${lastLine(stderr) || `sbatch ended with ${code}`}`);
  });
}

/** Prints the next bytes of the file `$1`, from `$2` on, at most `$3`. What is no file, such as a pipe, has none. */
const PRINT = 'test -f "$1" || exit 0; tail -c "+$2" -- "$1" | head -c "$3"';

/** Hands on what a growing file holds beyond what was read before, up to a limit. */
function followed(run: Run, file: string) {
  const decoder = new StringDecoder('utf8');
  let read = 0;
  let last = '';

  /** True when there may be more already. */
  async function readStep(): Promise<boolean> {
    const words = [file, String(read + 1), String(LARGEST_STEP)];
    const { code, stdout } = await capture(run.host, ['/bin/sh', '-c', PRINT, 'print', ...words], {
      cwd: '/',
      timeoutMs: LONGEST_ANSWER_MS,
    });
    if (code !== 0 || stdout.length === 0) return false;
    read += stdout.length;
    const text = decoder.write(stdout);
    run.show(text, file);
    last = lastLine(text.slice(-LONGEST_LAST_LINE)) || last;
    if (read >= LARGEST_OUTPUT) run.say(`It prints more than is kept here. All of it is in ${file}`);
    return stdout.length === LARGEST_STEP;
  }

  return {
    lastLine: () => last,
    async more() {
      while (read < LARGEST_OUTPUT && (await readStep()));
    },
  };
}

/** True when the marker is there; where there is a reason to expect it, it may come late. */
async function markerCame(run: Run, slurm: SlurmPlace, file: string, expected: boolean): Promise<boolean> {
  const end = Date.now() + (expected ? MARKER_MS : 0);
  for (;;) {
    const kind = await untilAnswered(run, slurm, async () => ({ answer: await run.host.kindOf(file) }));
    if (kind === 'file') return true;
    if (Date.now() >= end) return false;
    await sleep(LOOK_FOR_MARKER_MS, undefined, { signal: slurm.signal });
  }
}

async function follow(run: Run, slurm: SlurmPlace, id: string): Promise<void> {
  const files = filesOf(slurm);
  const [out, err] = [followed(run, files.out), followed(run, files.err)];
  const readOn = () =>
    untilAnswered(run, slurm, async () => {
      await out.more();
      await err.more();
      return { answer: undefined };
    });
  let state = '';
  for (;;) {
    const seen = await look(run, slurm, id);
    const now = seen.is === 'gone' ? 'not in the queue any more' : seen.state;
    if (now !== state) run.say(`Slurm job ${id}: ${now}`);
    state = now;
    await readOn();
    if (seen.is === 'gone' || stateKind(state).finished) break;
    await sleep(slurm.pollMs, undefined, { signal: slurm.signal });
  }
  const worked = await markerCame(run, slurm, files.success, state === 'COMPLETED' || !stateKind(state).finished);
  // what was printed last may come as late as the marker
  await readOn();
  if (worked) return;
  throw new StepFailed(`The Slurm job ${id} did not work (${state}): ${err.lastLine() || out.lastLine()}`);
}

export async function runInSlurm(run: Run, slurm: SlurmPlace, commands: ScriptCommand[]): Promise<void> {
  const files = filesOf(slurm);
  const script = submissionScript({ ...slurm, commands });
  await run.host.makeFolder(slurm.folder);
  await run.host.writeText(files.script, script);
  run.say(`$ sbatch --parsable ${files.script}`);
  try {
    const id = await submit(run, slurm, files.script);
    run.say(`Submitted the Slurm job ${id}, ${slurm.name}`);
    await follow(run, slurm, id);
  } catch (error) {
    // it must not go on in a folder that is about to be removed
    if (!slurm.signal.aborted && !isAway(error)) {
      await cancelEarlier(run, slurm).catch((late: Error) =>
        run.say(`The Slurm job may still run: ${late.message}`, 'WARNING'),
      );
    }
    throw error;
  }
}
