/**
 * Makes the demo for a person, call by call: the tasks, a project, what is in it, and a first job. What is there already is
 * recognised and taken as it is, so that a demo that was interrupted is completed and pressing twice makes one demo. A
 * project of the same name that holds something else is left alone: the demo then takes the next free name.
 */
import type { Activity, JsonObject, ProjectInList, TaskGroupSlim } from '@service/contract';

import type { call } from '../api/client.ts';
import { readableLog } from '../tasks/activity.ts';
import type { State } from '../ui/status.ts';

export const DEMO_STEPS = ['tasks', 'project', 'workflow', 'run'] as const;
export type DemoStep = (typeof DEMO_STEPS)[number];

export interface StepNews {
  state: State;
  /** What is being done right now, or what was found. */
  note?: string | undefined;
}

const RUNNING: State = { look: 'running', word: 'Running' };
const DONE: State = { look: 'done', word: 'Done' };
const FAILED: State = { look: 'failed', word: 'Failed' };
export const WAITING: State = { look: 'unset', word: 'Not started' };

/** Something went wrong that has a log. */
export class DemoProblem extends Error {
  readonly log: string | null;

  constructor(message: string, log: string | null) {
    super(message);
    this.log = log;
  }
}

export interface DemoParts {
  call: typeof call;
  offer: () => Promise<DemoOffer>;
  wheel: () => Promise<Blob>;
  /** Until the next look at what is going on; throws when nobody waits any more. */
  wait: () => Promise<void>;
  tell: (step: DemoStep, news: StepNews) => void;
}

export interface DemoPlace {
  project_id: number;
  workflow_id: number;
  dataset_id: number;
}

const named = <T extends { name: string }>(list: readonly T[], name: string) => list.find((one) => one.name === name);

const isUnder = ({ status }: Pick<Activity, 'status'>) => status === 'pending' || status === 'ongoing';

async function groupOf({ call }: DemoParts, { pkg_name, version }: DemoOffer['package']) {
  const packages = await call('tasks.listTaskGroups', { query: { only_active: false } });
  const groups = packages.flat(2).filter((part): part is TaskGroupSlim => typeof part !== 'string');
  const fitting = groups.filter((group) => group.pkg_name === pkg_name && group.version === version);
  return fitting.find(({ active }) => active) ?? fitting[0];
}

/** The activity that brings the tasks; an earlier click may have begun it. */
async function begin(parts: DemoParts, wanted: DemoOffer['package']): Promise<Activity | undefined> {
  const { pkg_name, version, file_name } = wanted;
  const activities = await parts.call('tasks.listActivities', { query: { pkg_name, log: false } });
  const running = activities.find((one) => one.version === version && isUnder(one));
  if (running) return running;
  const group = await groupOf(parts, wanted);
  if (group?.active) return undefined;
  if (group) return parts.call('tasks.reactivateTaskGroup', { params: { task_group_id: group.id } });
  const form = new FormData();
  form.set('file', await parts.wheel(), file_name);
  return parts.call('tasks.collectPip', { query: { private: true }, body: form as never });
}

function stepNote({ steps }: Pick<Activity, 'steps'>): string | undefined {
  const counted = steps.filter(({ status }) => status !== 'skipped');
  const at = counted.findIndex(({ status }) => status === 'ongoing');
  return at < 0 ? undefined : `Step ${at + 1} of ${counted.length}: ${counted[at]!.name}`;
}

async function ensureTasks(parts: DemoParts, { package: wanted }: DemoOffer): Promise<string> {
  const begun = await begin(parts, wanted);
  if (begun === undefined) return 'They are installed already.';
  let activity = begun;
  while (isUnder(activity)) {
    parts.tell('tasks', { state: RUNNING, note: stepNote(activity) ?? 'Waiting for its turn' });
    await parts.wait();
    activity = await parts.call('tasks.getActivity', { params: { task_group_activity_id: begun.id } });
  }
  if (activity.status === 'OK') return `${wanted.pkg_name} ${wanted.version}`;
  throw new DemoProblem(`The tasks could not be installed.`, readableLog(activity.log ?? ''));
}

interface Contents {
  datasets: { id: number; name: string }[];
  workflows: { id: number; name: string }[];
}

async function contentsOf({ call }: DemoParts, project_id: number): Promise<Contents> {
  const params = { project_id };
  const [datasets, workflows] = await Promise.all([
    call('projects.listDatasets', { params }),
    call('projects.listWorkflows', { params, query: { slim: true } }),
  ]);
  return { datasets, workflows };
}

/** True for a project that holds parts of the demo and nothing else. */
const isDemo = ({ datasets, workflows }: Contents, offer: DemoOffer) =>
  datasets.every(({ name }) => offer.workflows.some(({ dataset }) => dataset === name)) &&
  workflows.every(({ name }) => offer.workflows.some(({ workflow }) => workflow.name === name));

export function freeName(name: string, taken: readonly string[]): string {
  let number = 1;
  const next = () => (number === 1 ? name : `${name} ${number}`);
  while (taken.includes(next())) number += 1;
  return next();
}

async function ensureProject(parts: DemoParts, offer: DemoOffer) {
  const mine = await parts.call('projects.listProjects', { query: { is_owner: true } });
  const before = named(mine, offer.project);
  const contents = before && (await contentsOf(parts, before.id));
  if (before && contents && isDemo(contents, offer)) return { project: before, contents };
  const name = freeName(
    offer.project,
    mine.map((project) => project.name),
  );
  const project = await parts.call('projects.createProject', { body: { name } });
  return { project, contents: { datasets: [], workflows: [] } satisfies Contents };
}

async function ensureWorkflow(parts: DemoParts, project_id: number, contents: Contents, wanted: DemoWorkflow) {
  const params = { project_id };
  const dataset =
    named(contents.datasets, wanted.dataset) ??
    (await parts.call('projects.createDataset', { params, body: { name: wanted.dataset } }));
  const workflow =
    named(contents.workflows, wanted.workflow.name) ??
    // what an import may leave out is not known to the type
    (await parts.call('projects.importWorkflow', { params, body: wanted.workflow as never }));
  return { dataset_id: dataset.id, workflow_id: workflow.id };
}

/** One that was submitted before counts, whatever became of it. */
async function ensureJob({ call }: DemoParts, { project_id, ...query }: DemoPlace): Promise<void> {
  const params = { project_id };
  const jobs = await call('jobs.listJobs', { params, query: { ...query, log: false } });
  if ((Array.isArray(jobs) ? jobs : jobs.items).length > 0) return;
  await call('jobs.submitJob', { params, query, body: {} });
}

/** Gives back where to look when the first job is submitted. */
export async function makeDemo(parts: DemoParts): Promise<DemoPlace> {
  const { tell } = parts;
  const at = async <T>(step: DemoStep, work: () => Promise<T>, note: (value: T) => string | undefined): Promise<T> => {
    tell(step, { state: RUNNING });
    try {
      const value = await work();
      tell(step, { state: DONE, note: note(value) });
      return value;
    } catch (error) {
      tell(step, { state: FAILED });
      throw error;
    }
  };
  let offer!: DemoOffer;
  await at(
    'tasks',
    async () => {
      offer = await parts.offer();
      return ensureTasks(parts, offer);
    },
    (note) => note,
  );
  const { project, contents } = await at(
    'project',
    () => ensureProject(parts, offer),
    (made) => made.project.name,
  );
  const project_id = project.id;
  const [first] = await at(
    'workflow',
    async () => {
      const made = [];
      for (const workflow of offer.workflows) made.push(await ensureWorkflow(parts, project_id, contents, workflow));
      return made;
    },
    () => offer.workflows.map(({ workflow }) => workflow.name).join(', '),
  );
  const place = { project_id, ...first! };
  await at(
    'run',
    () => ensureJob(parts, place),
    () => undefined,
  );
  return place;
}

const PROJECT = 'Demo';

/** The demo of somebody who went away while it was made: its project is there, and nothing has run in it. */
export function unfinishedDemo(mine: readonly Pick<ProjectInList, 'name' | 'last_job'>[]): boolean {
  const [only, other] = mine;
  return other === undefined && only?.name === PROJECT && only.last_job === null;
}

/** What `GET /demo/workflow` answers: everything the demo needs beside its package, which is at `/demo/package`. */
interface DemoTask {
  task: { pkg_name: string; version: string; name: string };
  args_non_parallel?: JsonObject;
  args_parallel?: JsonObject;
}

export interface DemoWorkflow {
  /** The name of the dataset to make for it. */
  dataset: string;
  /** The body of the import of a workflow, as it is to be sent. */
  workflow: { name: string; description: string; task_list: DemoTask[] };
  /** How its job should end: one of the workflows is there to show a failure. */
  ends: 'done' | 'failed';
  /** The arguments of the task that draws the plate, for words about it. */
  plate: { plate_name: string; layout: { rows: number; columns: number } };
}

export interface DemoOffer {
  /** The name of the project to make. */
  project: string;
  package: { pkg_name: string; version: string; file_name: string };
  workflows: DemoWorkflow[];
}
