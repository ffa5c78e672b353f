/**
 * Carries out commands as one Slurm job, on a resource that has Slurm.
 *
 * What the job prints goes to the log while it runs. Only its marker says that it worked; an answer that cannot be had,
 * from Slurm or from the host, says nothing and is asked for again. A job has the name of its activity, so that the next
 * attempt finds one that an interrupted service left, and ends it first.
 */
import { StringDecoder } from 'node:string_decoder';

import { stateKind } from '../../engine/slurm/states.ts';
import {
  type Asked,
  type Asking,
  cancel,
  comesBack,
  followFiles,
  pause,
  type SlurmClient,
  SubmissionRefused,
  submitOnce,
  untilAnswered,
  whileAway,
} from '../../slurm/index.ts';
import { installFailure } from './install-failure.ts';
import { type ProcedureRun, StepFailed } from './procedure-run.ts';
import { filesOf, lastLine, type ScriptCommand, type SlurmConfig, stepScript } from './slurm-script.ts';

export interface SlurmJob {
  client: SlurmClient;
  config: SlurmConfig;
  name: string;
  /** Where script, output and marker go, and how their names begin. */
  folder: string;
  prefix: string;
  pollMs: number;
  /** Aborted when the service ends: the job goes on, and the next attempt ends it. */
  signal: AbortSignal;
}

/** For how long Slurm or the host may say nothing, before the job is given up. */
const SILENCE_MS = 30 * 60_000;
/** A file written on a node may be seen elsewhere only after a while. */
const MARKER_MS = 30_000;
const LOOK_FOR_MARKER_MS = 500;
/** Of what a job prints. */
const LARGEST_OUTPUT = 64 * 2 ** 20;
/** The cause of a failure may stand some way before its end. */
const LONGEST_REMEMBERED = 64_000;
const LONGEST_LAST_LINE = 10_000;
/** How long a job takes to go after scancel, at most. */
const CANCEL_MS = 60_000;

const askingFor = (run: ProcedureRun, { pollMs, signal }: SlurmJob): Asking => ({
  signal,
  pauses: { firstPauseMs: pollMs, longestPauseMs: pollMs },
  failsForPerson: true,
  onSilence: (why) => run.say(`No answer, asking again: ${lastLine(why)}`, 'WARNING'),
  longestSilence: { ms: SILENCE_MS, problem: (why) => new StepFailed(`Slurm does not answer: ${lastLine(why)}`) },
});

/** The jobs of this name that are not over. Somebody else may have given a job of theirs the same name. */
const jobsCalled = (run: ProcedureRun, job: SlurmJob): Promise<number[]> =>
  untilAnswered(
    async (): Promise<Asked<number[]>> => {
      const found = await job.client.queue.find({ name: job.name });
      if ('ids' in found) return { answer: found.ids };
      if (found.passing) return { silence: found.problem };
      throw new StepFailed(`The queue of Slurm cannot be read: ${lastLine(found.problem)}`);
    },
    askingFor(run, job),
  );

/** Ends the jobs of an earlier attempt, and waits until they are gone: they write where the next one does. */
export async function cancelEarlier(run: ProcedureRun, job: SlurmJob): Promise<void> {
  const end = Date.now() + CANCEL_MS;
  let ids = await jobsCalled(run, job);
  if (ids.length > 0) run.say(`Cancelling the Slurm job ${ids.join(', ')}`);
  while (ids.length > 0) {
    await cancel(job.client, ids);
    await pause(Math.min(job.pollMs, 1000), job.signal);
    ids = await jobsCalled(run, job);
    if (Date.now() > end) throw new StepFailed(`The Slurm job ${ids.join(', ')} was cancelled and does not end.`);
  }
}

const submit = (run: ProcedureRun, job: SlurmJob, path: string): Promise<number> =>
  submitOnce(job.client, { mark: { name: job.name }, script: { path }, mayBeThere: false }, askingFor(run, job)).catch(
    (error: unknown) => {
      if (!(error instanceof SubmissionRefused)) throw error;
      throw new StepFailed(`Slurm did not take the job: ${lastLine(error.said)}`, { cause: error });
    },
  );

const GONE = 'no longer in the queue';

/** What Slurm calls the state of the job: in its queue, or in its accounting where the queue has forgotten the job. */
const stateOf = (run: ProcedureRun, job: SlurmJob, id: number): Promise<string> =>
  untilAnswered(
    async (): Promise<Asked<string>> => {
      const { queue } = job.client;
      const reading = await queue.read([id], 0);
      if ('problem' in reading) return { silence: reading.problem };
      const known = reading.jobs.get(id) ?? (await queue.history([id])).get(id);
      return { answer: known?.elements.get(0)?.state ?? GONE };
    },
    askingFor(run, job),
  );

/** Shows what the job prints, up to a limit. */
function shownFile(run: ProcedureRun, path: string) {
  const decoder = new StringDecoder('utf8');
  let [read, end] = [0, ''];
  return {
    path,
    most: LARGEST_OUTPUT,
    end: () => end,
    onBytes(bytes: Buffer) {
      const text = decoder.write(bytes);
      run.show(text, path);
      end = (end + text).slice(-LONGEST_REMEMBERED);
      read += bytes.length;
      if (read === LARGEST_OUTPUT) run.say(`It prints more than is kept here. All of it is in ${path}`);
    },
  };
}

/** True when the marker is there; where there is a reason to expect it, it may come late. */
async function markerCame(run: ProcedureRun, job: SlurmJob, file: string, expected: boolean): Promise<boolean> {
  const end = Date.now() + (expected ? MARKER_MS : 0);
  for (;;) {
    const kind = await whileAway(() => run.host.kindOf(file), askingFor(run, job));
    if (kind === 'file') return true;
    if (Date.now() >= end) return false;
    await pause(LOOK_FOR_MARKER_MS, job.signal);
  }
}

async function follow(run: ProcedureRun, job: SlurmJob, id: number): Promise<void> {
  const files = filesOf(job);
  const [out, err] = [shownFile(run, files.out), shownFile(run, files.err)];
  const readNext = followFiles(job.client.files, [out, err]);
  const readOn = () => whileAway(readNext, askingFor(run, job));
  let state = '';
  for (;;) {
    const now = await stateOf(run, job, id);
    if (now !== state) run.say(`Slurm job ${id}: ${now}`);
    state = now;
    await readOn();
    if (state === GONE || stateKind(state).finished) break;
    await pause(job.pollMs, job.signal);
  }
  const worked = await markerCame(run, job, files.success, state === 'COMPLETED' || !stateKind(state).finished);
  // what was printed last may come as late as the marker
  await readOn();
  if (worked) return;
  const said = installFailure(err.end()) ?? (lastLine(err.end()) || lastLine(out.end())).slice(-LONGEST_LAST_LINE);
  throw new StepFailed(`The Slurm job ${id} did not work (${state}): ${said}`);
}

export async function runInSlurm(run: ProcedureRun, job: SlurmJob, commands: ScriptCommand[]): Promise<void> {
  const files = filesOf(job);
  const script = stepScript({ ...job, commands });
  await run.host.makeFolder(job.folder);
  await run.host.writeText(files.script, script);
  run.say(`$ sbatch --parsable ${files.script}`);
  try {
    const id = await submit(run, job, files.script);
    run.say(`Submitted the Slurm job ${id}, ${job.name}`);
    await follow(run, job, id);
  } catch (error) {
    // it must not go on in a folder that is about to be removed
    if (!job.signal.aborted && !comesBack(error)) {
      // a job of this name may be that of another process by now
      await run.stillOurs();
      await cancelEarlier(run, job).catch((late: Error) =>
        run.say(`The Slurm job may still run: ${late.message}`, 'WARNING'),
      );
    }
    throw error;
  }
}
