/**
 * The whole service in a real browser: people with accounts of their own, pages in Chromium, and the API to prepare and to
 * look behind the pages.
 *
 *     const anna = await person();
 *     const project = await anna.project('Screen 7');
 *     const page = await anna.open(`/v2/projects/${project.id}`);
 *     await page.getByRole('button', { name: 'New dataset' }).click();
 *     await looksWell(page, 'project');
 */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, inject } from 'vitest';

import type { Dataset, Job, Project, Task, TaskType, User, Workflow, WorkflowTask } from '@service/contract';

import { type Client, clientOf } from '../../../server/test/support/server.ts';
import { type Look, newPage } from './pages.ts';

export { looksWell } from './looks.ts';

export const { web, api, password: ADMIN_PASSWORD, resets } = inject('site');
const { folder } = inject('site');
export const ADMIN = 'admin@example.org';
export const PASSWORD = 'a-long-password';

const ROOT = join(import.meta.dirname, '../../../..');
const SCRIPTED = join(ROOT, 'packages/server/test/support/scripted_task.py');

export async function tokenOf(username: string, password = PASSWORD): Promise<string> {
  const { body, text } = await clientOf(api).raw('/auth/token/login/', {
    method: 'POST',
    body: new URLSearchParams({ username, password }),
  });
  if (body?.access_token === undefined) throw new Error(`${username} cannot sign in: ${text}`);
  return body.access_token as string;
}

/** The answer of a call that must go well. */
export async function good<T>(answer: ReturnType<Client['get']>): Promise<T> {
  const { status, body, text } = await answer;
  if (status >= 300) throw new Error(`${status}: ${text}`);
  return body as T;
}

/** A page of a browser of its own; with a token somebody is signed in. */
export async function openPage(path: string, token?: string, look?: Look): Promise<Page> {
  const page = await newPage(look);
  if (token !== undefined) await page.context().addCookies([{ name: 'fastapiusersauth', value: token, url: web }]);
  await goTo(page, path);
  return page;
}

/** Goes to a page and waits until it can be used. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.locator('html[data-ready]').waitFor();
}

export interface ScriptedTask {
  name?: string;
  type?: TaskType;
  version?: string;
  schema?: object;
  schemaNonParallel?: object;
  input_types?: Record<string, boolean>;
  output_types?: Record<string, boolean>;
  [more: string]: unknown;
}

interface Submission {
  first_task_index?: number;
  last_task_index?: number;
  [more: string]: unknown;
}

/** Somebody with an account, a profile and a project folder of their own. */
export interface Person extends User {
  token: string;
  client: Client;
  folder: string;
  open(path: string, look?: Look): Promise<Page>;
  project(name?: string): Promise<Project>;
  dataset(project: Project, name?: string, images?: (string | Record<string, unknown>)[]): Promise<Dataset>;
  /** A private task that does what its argument `plan` says (scripted_task.py). */
  task(fields?: ScriptedTask): Promise<Task>;
  workflow(project: Project, name: string, tasks: { task: Task; [field: string]: unknown }[]): Promise<Workflow>;
  submit(project: Project, workflow: Workflow, dataset: Dataset, body?: Submission): Promise<Job>;
  /** Waits until the job has ended. */
  ended(job: Job, timeout?: number): Promise<Job>;
}

const hasParallel = (type: TaskType) => ['parallel', 'compound', 'converter_compound'].includes(type);

let adminToken: Promise<string> | undefined;
const tokenOfAdmin = () => (adminToken ??= tokenOf(ADMIN, ADMIN_PASSWORD));

export const admin = async (): Promise<Client> => clientOf(api, await tokenOfAdmin());

/** With the session that prepares everything: whoever ends it signs in by itself. */
export const asAdmin = async (path: string, look?: Look): Promise<Page> => openPage(path, await tokenOfAdmin(), look);

let count = 0;
const unique = () => `${process.pid}-${Date.now().toString(36)}-${++count}`;

export interface PersonFields {
  /** The beginning of the address. */
  name?: string;
  profile_id?: number | null;
  /** What an administrator sets afterwards: is_verified, is_guest, is_superuser … */
  patch?: Record<string, unknown>;
}

export async function person({ name = 'person', profile_id, patch = {} }: PersonFields = {}): Promise<Person> {
  const client = await admin();
  const [profile] = await good<{ id: number }[]>(client.get('/admin/v2/profile/'));
  const email = `${name}.${unique()}@example.org`;
  const own = mkdtempSync(join(folder, `${name}-`));
  const created = await good<User>(
    client.post('/auth/register/', {
      email,
      password: PASSWORD,
      profile_id: profile_id === undefined ? profile!.id : profile_id,
      project_dirs: [own],
    }),
  );
  const user = await good<User>(client.patch(`/auth/users/${created.id}/`, { is_verified: true, ...patch }));
  return signedInPerson(user, own, await tokenOf(email).catch(() => ''));
}

function signedInPerson(user: User, own: string, token: string): Person {
  const client = clientOf(api, token);
  return {
    ...user,
    token,
    client,
    folder: own,
    open: (path, look) => openPage(path, token, look),
    project: (name = `Project ${unique()}`) => good(client.post('/api/v2/project/', { name })),
    async dataset(project, name = 'Plate', images = []) {
      const dataset = await good<Dataset>(client.post(`/api/v2/project/${project.id}/dataset/`, { name }));
      for (const image of images) {
        const fields = typeof image === 'string' ? { zarr_url: image } : image;
        const body = { ...fields, zarr_url: `${dataset.zarr_dir}/${String(fields['zarr_url'])}` };
        await good(client.post(`/api/v2/project/${project.id}/dataset/${dataset.id}/images/`, body));
      }
      return dataset;
    },
    task({ name = `Task ${unique()}`, type = 'parallel', schema, schemaNonParallel, version = '1.0.0', ...more } = {}) {
      const command = `python3 ${SCRIPTED}`;
      return good(
        client.post('/api/v2/task/?private=true', {
          name,
          type,
          version,
          ...(hasParallel(type) ? { command_parallel: command, args_schema_parallel: schema } : {}),
          ...(type === 'parallel'
            ? {}
            : { command_non_parallel: command, args_schema_non_parallel: schemaNonParallel }),
          ...(schema || schemaNonParallel ? { args_schema_version: 'pydantic_v2' } : {}),
          ...more,
        }),
      );
    },
    async workflow(project, name, tasks) {
      const base = `/api/v2/project/${project.id}/workflow/`;
      const { id } = await good<Workflow>(client.post(base, { name }));
      for (const { task, alias, description, ...fields } of tasks) {
        const [step] = await good<WorkflowTask[]>(
          client.post(`${base}${id}/wftask/`, [{ task_id: task.id, ...fields }]),
        );
        if (alias !== undefined || description !== undefined)
          await good(client.patch(`${base}${id}/wftask/${step!.id}/`, { alias, description }));
      }
      return good(client.get(`${base}${id}/`));
    },
    submit: (project, workflow, dataset, body = {}) =>
      good(
        client.post(
          `/api/v2/project/${project.id}/job/submit/?workflow_id=${workflow.id}&dataset_id=${dataset.id}`,
          body,
        ),
      ),
    async ended({ project_id, id }, timeout = 60_000) {
      const path = `/api/v2/project/${project_id}/job/${id}/`;
      await expect.poll(async () => (await good<Job>(client.get(path))).status, { timeout }).not.toBe('submitted');
      return good(client.get(path));
    },
  };
}

/** Asks somebody into a project, who accepts. */
export async function share(owner: Person, project: { id: number }, guest: Person, permissions: 'r' | 'rw' | 'rwx') {
  await good(
    owner.client.post(`/api/v2/project/${project.id}/guest/?email=${encodeURIComponent(guest.email)}`, { permissions }),
  );
  await good(guest.client.post(`/api/v2/project/${project.id}/access/accept/`, {}));
}
