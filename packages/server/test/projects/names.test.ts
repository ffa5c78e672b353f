/** Names as people write them, in all kinds of objects alike. */
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { beforeAll, expect, it } from 'vitest';

import type { JsonObject } from '@service/contract';

import { dataFolder, type Lab, openLab } from '../support/lab.ts';
import { startService, type TestService } from '../support/server.ts';

const NAME = 'Größe (1, 2) [a] {b} & "c", Färbung µm²/√ №3 – 50 % <i>x</i>';

const RESOURCE = {
  type: 'local',
  jobs_local_dir: '/jobs',
  tasks_local_dir: '/tasks',
  jobs_runner_config: {},
  tasks_python_config: { default_version: '3.12', versions: { '3.12': '/usr/bin/python3.12' } },
  tasks_pixi_config: {},
};

let service: TestService;
let lab: Lab;

beforeAll(async () => {
  service = await startService({ settings: { SERVICE_DATA_DIR: dataFolder() } });
  lab = await openLab(service);
});

const requests = () => {
  const { client } = lab.owner;
  return {
    project: (name: string) => client.post('/api/v2/project/', { name }),
    dataset: (name: string) => client.post(`${lab.base}/dataset/`, { name }),
    'imported dataset': (name: string) =>
      client.post(`${lab.base}/dataset/import/`, { name, zarr_dir: lab.folders.zarr }),
    workflow: (name: string) => client.post(`${lab.base}/workflow/`, { name }),
    'imported workflow': (name: string) => client.post(`${lab.base}/workflow/import/`, { name, task_list: [] }),
    template: async (name: string) => {
      const { id } = await lab.workflow([{ type: 'parallel' }]);
      return client.post('/api/v2/workflow-template/', { name, version: 1 }, { query: { workflow_id: id } });
    },
    task: (name: string) =>
      client.post('/api/v2/task/?private=true', { name, version: '1', command_parallel: 'true', type: 'parallel' }),
    alias: async (alias: string) => {
      const { id, steps } = await lab.workflow([{ type: 'parallel' }]);
      const { status, body } = await client.patch(`${lab.base}/workflow/${id}/wftask/${steps[0]}/`, { alias });
      // a change, not something new
      return { status: status === 200 ? 201 : status, body: { ...body, name: body.alias } };
    },
    'personal access token': (name: string) =>
      client.post('/auth/current-user/token/', {
        name,
        scope: 'read',
        timestamp_expires: new Date(Date.now() + 86_400_000).toISOString(),
      }),
    resource: (name: string) => service.admin.post('/admin/v2/resource/', { ...RESOURCE, name }),
    profile: async (name: string) => {
      const { id } = (await service.admin.post('/admin/v2/resource/', { ...RESOURCE, name: `For ${Date.now()}` })).body;
      return service.admin.post(`/admin/v2/resource/${id}/profile/`, { resource_type: 'local', name });
    },
    'user group': (name: string) => service.admin.post('/auth/group/', { name }),
  };
};

const KINDS = [
  'project',
  'dataset',
  'imported dataset',
  'workflow',
  'imported workflow',
  'template',
  'task',
  'alias',
  'personal access token',
  'resource',
  'profile',
  'user group',
] as const satisfies (keyof ReturnType<typeof requests>)[];

/** Where it stands in what is sent. */
const PLACES: Partial<Record<(typeof KINDS)[number], string>> = { alias: 'alias' };

/** A body that comes in kinds names its kind first. */
const VARIANT: Partial<Record<(typeof KINDS)[number], string[]>> = { resource: ['local'], profile: ['local'] };

it.each(KINDS)('commas, brackets, umlauts and quotes are fine in the name of a %s', async (kind) => {
  const name = `${NAME} ${kind}`;
  const { status, body } = await requests()[kind](name);
  expect([status, body.name]).toEqual([201, name]);
});

it.each(KINDS)(
  'a tab, a line break or a sign that turns the text around is refused in the name of a %s',
  async (kind) => {
    for (const name of ['a\tb', 'a\nb', 'a\u202eb', 'a\u200bb', 'a\u2028b']) {
      const { status, body } = await requests()[kind](name);
      expect(status).toBe(422);
      const entry = {
        loc: ['body', ...(VARIANT[kind] ?? []), PLACES[kind] ?? 'name'],
        msg: expect.stringContaining('invisible character'),
      };
      expect(body.detail).toEqual([expect.objectContaining(entry)]);
    }
  },
);

it('a job runs in a project and a dataset with such names, in folders that can be made', async () => {
  const { client } = lab.owner;
  for (const name of [NAME, 'ü'.repeat(5000)]) {
    const project = (await client.post('/api/v2/project/', { name: `${name} ` })).body as { id: number };
    const base = `/api/v2/project/${project.id}`;
    const { body: dataset } = await client.post(`${base}/dataset/`, { name });
    for (const folder of [dataset.zarr_dir, dirname(dataset.zarr_dir)])
      expect(Buffer.byteLength(basename(folder))).toBeLessThanOrEqual(255);
    const python = `os.makedirs(${JSON.stringify(`${dataset.zarr_dir}/a`)})`;
    const output = { image_list_updates: [{ zarr_url: `${dataset.zarr_dir}/a` }] } as unknown as JsonObject;
    const flow = await lab.workflow([{ type: 'converter_non_parallel', plan: { '*': { python, output } } }]);
    await service.database.db
      .updateTable('workflows')
      .set({ project_id: project.id, name })
      .where('id', '=', flow.id)
      .execute();
    const submitted = await client.post(
      `${base}/job/submit/`,
      {},
      { query: { workflow_id: flow.id, dataset_id: dataset.id } },
    );
    expect([submitted.status, submitted.text]).toEqual([202, expect.any(String)]);
    await expect
      .poll(async () => (await client.get(`${base}/job/${submitted.body.id}/`)).body.status, { timeout: 20_000 })
      .toBe('done');
    expect(existsSync(`${dataset.zarr_dir}/a`)).toBe(true);
  }
});
