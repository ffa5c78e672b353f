/**
 * Makes the demo for a person: a task package, a project, and workflows that run. What is there already is recognised by
 * its name and taken as it is, so that a demo that was interrupted is completed and a complete one is left alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { type Dataset, type Job, jobs, type Project, projects, type User } from '@service/contract';

import { type Api, apiFor, type ServiceAtWork } from './api.ts';
import { DEMO_PACKAGE, ensurePackage, type PackageParts } from './package.ts';
import { type DemoWorkflow, readShown } from './workflows.ts';

const LOOK_EVERY_MS = 300;

export interface DemoParts extends ServiceAtWork, Omit<PackageParts, 'api' | 'workflows'> {
  user: Pick<User, 'id'>;
}

export interface DemoRun {
  workflow: DemoWorkflow;
  dataset: Dataset;
  job: Job;
}

export interface Demo {
  project: Pick<Project, 'id' | 'name'>;
  runs: DemoRun[];
}

const named = <T extends { name: string }>(list: T[], name: string) => list.find((one) => one.name === name);

const importOf = ({ name, description, tasks }: DemoWorkflow, version: string) => ({
  name,
  description,
  task_list: tasks.map(({ name: task, ...args }) => ({
    ...args,
    task: { pkg_name: DEMO_PACKAGE, version, name: task },
  })),
});

/** The job of a workflow on a dataset: the one that was submitted before, whatever became of it, or a new one. */
async function ensureJob(api: Api, project_id: number, workflow_id: number, dataset_id: number): Promise<Job> {
  const params = { project_id };
  const earlier = await api(jobs.listJobs, { params, query: { workflow_id, dataset_id, log: false } });
  const [newest] = Array.isArray(earlier) ? earlier : earlier.items;
  return newest ?? api(jobs.submitJob, { params, query: { workflow_id, dataset_id }, body: {} });
}

/** Gives back the demo when all of its jobs are submitted. */
export async function makeDemo(parts: DemoParts): Promise<Demo> {
  const api = apiFor(parts, parts.user.id);
  const shown = await readShown();
  const before = named(await api(projects.listProjects), shown.project);
  const workflows = before
    ? await api(projects.listWorkflows, { params: { project_id: before.id }, query: { slim: true } })
    : [];
  const complete = shown.workflows.every(({ name }) => named(workflows, name));
  const version = complete ? '' : await ensurePackage({ ...parts, api, workflows: shown.workflows });

  const project = before ?? (await api(projects.createProject, { body: { name: shown.project } }));
  const params = { project_id: project.id };
  const datasets = await api(projects.listDatasets, { params });
  const runs: DemoRun[] = [];
  for (const workflow of shown.workflows) {
    parts.stopping.throwIfAborted();
    const { id } =
      named(workflows, workflow.name) ??
      (await api(projects.importWorkflow, { params, body: importOf(workflow, version) }));
    const dataset =
      named(datasets, workflow.dataset) ??
      (await api(projects.createDataset, { params, body: { name: workflow.dataset } }));
    runs.push({ workflow, dataset, job: await ensureJob(api, project.id, id, dataset.id) });
  }
  return { project, runs };
}

/** The same runs, with their jobs over. */
export async function demoEnd(parts: DemoParts, { project, runs }: Demo): Promise<DemoRun[]> {
  const api = apiFor(parts, parts.user.id);
  const end = async (job: Job): Promise<Job> => {
    if (job.status !== 'submitted') return job;
    await sleep(LOOK_EVERY_MS, undefined, { signal: parts.stopping });
    return end(await api(jobs.getJob, { params: { project_id: project.id, job_id: job.id } }));
  };
  return Promise.all(runs.map(async (run) => ({ ...run, job: await end(run.job) })));
}
