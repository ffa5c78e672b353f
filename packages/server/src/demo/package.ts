/** The demo's task package: built from its sources in packages/demo-tasks, and collected as an uploaded wheel. */
import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { type Activity, tasks, type TaskGroupSlim } from '@service/contract';

import { findPython } from '../accounts/index.ts';
import { type Api, DemoProblem } from './api.ts';
import { type DemoWorkflow, SOURCES } from './workflows.ts';

export const DEMO_PACKAGE = 'demo-tasks';

const LOOK_EVERY_MS = 300;

const hasTasksOf = (workflows: DemoWorkflow[], { task_list }: TaskGroupSlim) =>
  workflows.every(({ tasks: needed }) => needed.every(({ name }) => task_list.some((task) => task.name === name)));

export interface PackageParts {
  api: Api;
  dataDir: string;
  /** What the package is needed for. */
  workflows: DemoWorkflow[];
  say(line: string): void;
  /** Ends the waiting. */
  stopping: AbortSignal;
}

async function buildWheel(folder: string, stopping: AbortSignal): Promise<string> {
  const python = findPython();
  if (!python) throw new DemoProblem('no Python 3.9 to 3.15 was found. Install Python.');
  const args = [join(SOURCES, 'build_backend.py'), folder];
  const { stdout } = await promisify(execFile)(python.path, args, { signal: stopping });
  return stdout.trim();
}

/** The version of the package that this person can use, if any. */
async function usableVersion({ api, workflows }: PackageParts): Promise<string | undefined> {
  const packages = await api(tasks.listTaskGroups, { query: { only_active: true } });
  const groups = packages.flat(2).filter((part): part is TaskGroupSlim => typeof part !== 'string');
  return groups.find((group) => group.pkg_name === DEMO_PACKAGE && hasTasksOf(workflows, group))?.version;
}

/** A collection that an earlier start began goes on by itself. */
async function unfinishedCollection(api: Api): Promise<Activity | undefined> {
  const query = { pkg_name: DEMO_PACKAGE, action: 'collect', log: false };
  const activities = await api(tasks.listActivities, { query });
  return activities.find(({ status }) => status === 'pending' || status === 'ongoing');
}

async function beginCollection({ api, dataDir, stopping }: PackageParts): Promise<Activity> {
  const wheel = await buildWheel(join(dataDir, 'demo'), stopping);
  const form = new FormData();
  form.set('file', await openAsBlob(wheel), basename(wheel));
  return api(tasks.collectPip, { body: form });
}

async function collectionEnd({ api, stopping }: PackageParts, id: number): Promise<Activity> {
  for (;;) {
    const activity = await api(tasks.getActivity, { params: { task_group_activity_id: id } });
    if (activity.status === 'OK' || activity.status === 'failed') return activity;
    await sleep(LOOK_EVERY_MS, undefined, { signal: stopping });
  }
}

const lastLine = (text: string | null) => text?.trim().split('\n').at(-1) ?? '';

/** Collects the package unless it is there; says its version. */
export async function ensurePackage(parts: PackageParts): Promise<string> {
  const { api, say } = parts;
  const running = await unfinishedCollection(api);
  const there = running ? undefined : await usableVersion(parts);
  if (there !== undefined) return there;
  say('Demo: installing its tasks');
  const { id } = running ?? (await beginCollection(parts));
  const { status, version, steps, log } = await collectionEnd(parts, id);
  if (status === 'OK') return version;
  const failed = steps.find((step) => step.status === 'failed');
  throw new DemoProblem(`installing ${DEMO_PACKAGE} failed: ${lastLine(failed?.detail ?? log)}`);
}
