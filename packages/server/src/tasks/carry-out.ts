/**
 * Carries out what was asked for with a task group, in the background.
 *
 * A process can be killed at any moment, and a host that is reached by SSH can be away; then this begins again, ends what
 * the earlier attempt left running, and starts over. A host that stays away fails the activity in the end.
 */
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { Profile, Resource } from '@service/contract';

import { findProfileOf, findResource } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import { type AccountHost, type Host, HostAway, localHost, ownName, type ProcessHandle } from '../hosts/index.ts';
import { fenced, type Handler, LeaseLost, type WorkContext } from '../queue/index.ts';
import type { RunAs } from '../run-as/index.ts';
import { ACTIONS, type ActivityContext, settleAsFailed, stepsOf } from './actions.ts';
import { collectorFor, keeperFor } from './collector.ts';
import {
  type HostFor,
  type InstallSite,
  isFar,
  signInProblem,
  slurmConfigOf,
  type SlurmFor,
  toolsFolder,
} from './install-site.ts';
import { createProcedureRun, type ProcedureRun, StepFailed } from './procedures/procedure-run.ts';
import { cancelEarlier } from './procedures/slurm-job.ts';
import { jobName } from './procedures/slurm-script.ts';
import * as store from './store/lifecycle.ts';

export interface ActivityParts {
  db: Database;
  dataDir: string;
  packageIndex: string | null;
  /** For resources that are reached by SSH. */
  hostFor?: HostFor;
  slurmFor?: SlurmFor;
  /** Whose accounts run what packages bring, where it is not that of the service. */
  runAs?: RunAs;
}

/** Slurm is asked no more often than this. */
const SHORTEST_POLL_MS = 200;

interface Subject {
  activity: store.ActivityAtWork;
  group: store.GroupAtWork;
  resource: Resource;
  profile: Profile | undefined;
}

/** Far away when files are there; a task group without files needs no machine. */
const hasFilesFarAway = ({ group, resource }: Subject) => isFar(resource) && group.path !== null;

/** Why there is no way to its files, in words. */
const accessProblem = (parts: ActivityParts, subject: Subject): string | undefined => {
  if (!hasFilesFarAway(subject)) return undefined;
  return parts.hostFor
    ? signInProblem(subject.resource, subject.profile)
    : 'This service does not reach machines by SSH.';
};

/** Where its files are and its commands run. */
interface Workshop {
  host: Host;
  account: AccountHost | undefined;
  /** Why nothing can be done there, in words. */
  problem: string | undefined;
}

const MAKES = ['collect', 'reactivate', 'reset'];

async function workshopOf(parts: ActivityParts, subject: Subject): Promise<Workshop> {
  const { activity, group, resource, profile } = subject;
  const { runAs } = parts;
  const problem = accessProblem(parts, subject);
  const here = { host: localHost, account: undefined, problem };
  if (hasFilesFarAway(subject)) {
    return problem === undefined ? { ...here, host: parts.hostFor!(resource, profile!) } : here;
  }
  if (!runAs || group.path === null) return here;
  if (!MAKES.includes(activity.action)) return { ...here, ...(await keeperFor(runAs, subject, group.path)) };
  const { account, problem: inTheWay } = await collectorFor(runAs, subject, { path: group.path, python: '' });
  return { host: account ?? localHost, account, problem: inTheWay };
}

function installSiteOf(
  parts: ActivityParts,
  subject: Subject,
  { host, account }: Workshop,
  signal: AbortSignal,
): InstallSite {
  const { activity, group, resource, profile } = subject;
  const config = slurmConfigOf(resource);
  const far = hasFilesFarAway(subject);
  return {
    resource,
    toolsDir: far ? toolsFolder(resource, profile, parts.dataDir) : parts.dataDir,
    tools: far ? host : localHost,
    account,
    packageIndex: parts.packageIndex,
    pixiCacheDir: profile?.pixi_cache_dir ?? null,
    slurm:
      config && far && group.origin === 'pixi' && parts.slurmFor
        ? {
            client: parts.slurmFor(resource, profile!),
            config,
            name: jobName(activity),
            folder: join(group.path!, 'scripts'),
            prefix: `${Math.floor(Date.now() / 1000)}_${activity.action}`,
            pollMs: Math.max(resource.jobs_poll_interval * 1000, SHORTEST_POLL_MS),
            signal,
          }
        : null,
  };
}

/** Signs in, and ends what an earlier attempt left running. */
async function begin(
  run: ProcedureRun,
  site: InstallSite,
  far: boolean,
  { attempt, leftOver }: WorkContext,
): Promise<void> {
  const toEnd = async () => {
    if (leftOver && (await run.host.endLeftOver(leftOver))) run.say('Ended a command that was still running');
    if (attempt === 1 || !site.slurm) return;
    // what runs may be that of a later attempt by now
    await run.stillOurs();
    await cancelEarlier(run, site.slurm);
  };
  if (!far) return toEnd();
  await run.step('connect', async () => {
    await run.host.run(['true'], { cwd: '/' });
    await toEnd();
  });
}

const isSettled = (activity: store.ActivityAtWork) => activity.status === 'OK' || activity.status === 'failed';

/** The rest of what is known about it; nothing where the task group is gone. */
async function subjectOf(db: Database, activity: store.ActivityAtWork): Promise<Subject | undefined> {
  const group = activity.taskgroupv2_id === null ? undefined : await store.findGroupAtWork(db, activity.taskgroupv2_id);
  const resource = group && (await findResource(db, group.resource_id));
  return group && resource && { activity, group, resource, profile: await findProfileOf(db, group.user_id) };
}

/** What another process takes over, this one writes nothing more about, and stops at as soon as it notices. */
function claimOn(db: Database, { lease, remember, signal }: WorkContext) {
  const lost = new AbortController();
  const noticing = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      if (error instanceof LeaseLost) lost.abort(error);
      throw error;
    });
  return {
    write: <T>(work: (trx: store.Trx) => Promise<T>) => noticing(fenced(db, lease, work)),
    remember: (handle: ProcessHandle | null) => noticing(remember(handle)),
    signal: AbortSignal.any([signal, lost.signal]),
  };
}

async function carryOut(
  parts: ActivityParts,
  activity: store.ActivityAtWork,
  work: WorkContext,
): Promise<'unfinished' | undefined> {
  const { db } = parts;
  const { attempt, last } = work;
  const { write, remember, signal } = claimOn(db, work);
  const subject = await subjectOf(db, activity);
  if (!subject) return void (await write((trx) => store.settleActivity(trx, activity.id, 'failed')));
  const { group, resource } = subject;
  const far = hasFilesFarAway(subject);
  const workshop = await workshopOf(parts, subject);
  const { problem } = workshop;
  const startsOver = (error: unknown) => signal.aborted || (!last && error instanceof HostAway && !error.needsPerson);
  const run = createProcedureRun({
    host: workshop.host,
    name: activity.action,
    steps: [...(far ? ['connect'] : []), ...stepsOf(activity.action, group, resource)],
    log: activity.log ?? '',
    save: (log, steps) => write((trx) => store.saveProgress(trx, activity.id, log, steps)),
    remember,
    startsOver,
    proveOurs: () => write(async () => undefined),
    signal,
  });
  if (attempt > 1)
    run.say(`The service${far ? ' or its connection' : ''} was interrupted; this starts over`, 'WARNING');
  await write((trx) => store.setOngoing(trx, activity.id));
  const context: Omit<ActivityContext, 'site'> = { write, run, activity, group, again: attempt > 1, startsOver };
  try {
    if (problem !== undefined) throw new StepFailed(problem);
    const site = installSiteOf(parts, subject, workshop, signal);
    if (!far && group.path !== null) run.say(`Runs as the account ${workshop.account?.account.name ?? ownName()}`);
    await begin(run, site, far, work);
    await ACTIONS[activity.action]({ ...context, site });
    await run.close();
  } catch (error) {
    const { message } = error as Error;
    if (startsOver(error)) {
      run.say(`Interrupted: ${message}`, 'WARNING');
      await run.close();
      if (signal.aborted) return 'unfinished';
      throw error;
    }
    await run.close(message);
    await requireOutcome(db, context);
  }
  return undefined;
}

/** What failed before anything was done is settled here; when the database does not take it, all of it is tried again. */
async function requireOutcome(db: Database, context: Omit<ActivityContext, 'site'>): Promise<void> {
  const now = await store.findActivityAtWork(db, context.activity.id);
  if (now && !isSettled(now)) await settleAsFailed(context);
}

/** The handler of activities for the queue. */
export function activityHandler(parts: ActivityParts): Handler {
  return async (activityId, context) => {
    const activity = await store.findActivityAtWork(parts.db, activityId);
    if (!activity) return;
    try {
      if (!isSettled(activity) && (await carryOut(parts, activity, context)) === 'unfinished') return 'unfinished';
    } catch (error) {
      if (error instanceof LeaseLost) return 'unfinished';
      throw error;
    }
    const upload = activity.request['upload'] as string | undefined;
    if (upload !== undefined) await rm(dirname(upload), { recursive: true, force: true });
  };
}
