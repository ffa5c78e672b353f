/** Names that JavaScript's own objects know too: whatever a person calls an attribute, a type or an argument, it is a name. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, it } from 'vitest';

import { temporaryFolder } from '../support/file-end.ts';
import { dataFolder, openLab } from '../support/lab.ts';
import { addJob } from '../support/people.ts';
import { startService, type TestService } from '../support/server.ts';

const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', 'prototype', 'then', 'length'];

/** An object with a field of this name, also where a literal would set something else. */
const having = <T>(name: string, value: T): Record<string, T> => Object.fromEntries([[name, value]]);
const own = (object: object, name: string): unknown => Object.getOwnPropertyDescriptor(object, name)?.value;

let service: TestService;
let lab: Awaited<ReturnType<typeof openLab>>;

beforeAll(async () => {
  service = await startService({ settings: { SERVICE_DATA_DIR: dataFolder() } });
  lab = await openLab(service);
});

const post = async (path: string, body: unknown, status = 200) => {
  const answer = await lab.owner.client.post(`${lab.base}/${path}`, body);
  expect([path, answer.status, answer.status === status ? '' : answer.text]).toEqual([path, status, '']);
  return answer.body;
};

describe.each(NAMES)('%s', (name) => {
  it('is an attribute and a type like any other', async () => {
    const dataset = await lab.dataset([
      { zarr_url: 'a', attributes: having(name, 'x'), types: having(name, true) },
      { zarr_url: 'b', attributes: { well: 'A01' } },
    ]);
    const images = `dataset/${dataset}/images`;
    const count = async (body: object) => (await post(`${images}/query/`, body)).total_count;
    const page = await post(`${images}/query/`, {});
    expect([own(page.attributes, name), page.attributes.well, page.types]).toEqual([['x'], ['A01'], [name]]);
    expect(own(page.items[0].attributes, name)).toBe('x');
    expect(await count({ attribute_filters: having(name, ['x']) })).toBe(1);
    expect(await count({ attribute_filters: having(name, ['y']) })).toBe(0);
    expect(await count({ type_filters: having(name, true) })).toBe(1);
    expect(await count({ type_filters: having(name, false) })).toBe(1);
    const zarr_url = page.items[1].zarr_url as string;
    expect(await count({ zarr_url, attribute_filters: having(name, ['x']) })).toBe(0);
    expect(await count({ zarr_url, type_filters: having(name, false) })).toBe(1);
    const sorted = await post(`${images}/query/?sort=${encodeURIComponent(`attribute:${name}`)}`, {});
    expect(sorted.total_count).toBe(2);
    const groups = await post(`status/images/groups/?dataset_id=${dataset}`, { by: [name] });
    expect(groups.groups.map(({ values }: { values: object }) => own(values, name))).toContain('x');

    await post(`${images}/bulk/`, {
      set_attributes: having(name, 'y'),
      set_types: having(name, true),
      type_filters: {},
    });
    expect(await count({ attribute_filters: having(name, ['y']) })).toBe(2);
    const change = { zarr_url, attributes: having(name, 'z'), types: having(name, false) };
    const changed = await lab.owner.client.patch(`${lab.base}/${images}/`, change);
    expect([changed.status, own(changed.body.attributes, name)]).toEqual([200, 'z']);
    await post(
      `${images}/`,
      { zarr_url: `${zarr_url}-more`, attributes: having(name, ' z '), types: having(name, 1) },
      201,
    );
    expect(await count({ attribute_filters: having(name, [' z ']) })).toBe(1);
    const csv = await lab.owner.client.post(`${lab.base}/${images}/export/?format=csv`, {});
    const header = csv.text.split('\r\n')[0]!.split(',');
    expect([csv.status, header.filter((cell) => cell === name)]).toEqual([200, [name, name]]);
    await post(`${images}/bulk/`, { unset_attributes: [name], type_filters: {} });
    expect(own((await post(`${images}/query/`, {})).attributes, name)).toBeUndefined();
  });

  it('is an argument, a filter and an option of a task like any other, from the workflow to the process', async () => {
    const output = {
      image_list_updates: [{ zarr_url: '{url}', attributes: having(name, 'made'), types: having(name, true) }],
    };
    const flow = await lab.workflow([{ type: 'parallel', plan: { '*': { output } } }, { type: 'parallel' }]);
    const blocks = {
      args_parallel: { ...having(name, 'given'), starts: lab.folders.starts, task: 77 },
      meta_parallel: having(name, 1),
      type_filters: having(name, true),
    };
    const wftask = await lab.owner.client.patch(`${lab.base}/workflow/${flow.id}/wftask/${flow.steps[1]}/`, blocks);
    expect([wftask.status, own(wftask.body.args_parallel, name), own(wftask.body.type_filters, name)]).toEqual([
      200,
      'given',
      true,
    ]);
    expect((await lab.owner.client.get(`${lab.base}/workflow/${flow.id}/type-filters-flow/`)).status).toBe(200);

    const exported = await lab.owner.client.get(`${lab.base}/workflow/${flow.id}/export/`);
    const copy = await post('workflow/import/', { ...exported.body, name: `Copy of ${flow.id} ${name}` }, 201);
    const [, second] = copy.task_list;
    expect([own(second.args_parallel, name), own(second.meta_parallel, name), own(second.type_filters, name)]).toEqual([
      'given',
      1,
      true,
    ]);
    const template = await lab.owner.client.post(`/api/v2/workflow-template/?workflow_id=${flow.id}`, {
      name: `T ${name}`,
      version: 1,
    });
    expect([template.status, template.text.includes('given')]).toEqual([201, true]);

    const dataset = await lab.dataset([{ zarr_url: `${flow.id}`, attributes: having(name, 'x') }, `${flow.id}-b`]);
    const job = await lab.run(flow, dataset, { attribute_filters: having(name, ['x', 'made']) });
    expect([job.status, job.log]).toEqual(['done', expect.anything()]);
    const [first, other] = await lab.images(dataset);
    expect([own(first!.attributes, name), own(first!.types, name), own(other!.attributes, name)]).toEqual([
      'made',
      true,
      undefined,
    ]);
    const seen = await post(`status/images/?dataset_id=${dataset}&workflowtask_id=${flow.steps[1]}`, {
      attribute_filters: having(name, ['made']),
    });
    expect(seen.total_count).toBe(1);
    const started = lab.starts().filter(({ task, url }) => task === 77 && url === first!.zarr_url);
    expect(started.map(({ args }) => own(args, name))).toEqual(['given']);
  });

  it('is a field that nothing asked for, in addresses, forms and bodies', async () => {
    const address = `/api/v2/project/?${encodeURIComponent(name)}=1`;
    expect((await lab.owner.client.get(address)).status).toBe(200);
    const form = new URLSearchParams([
      [name, 'x'],
      ['username', 'nobody@example.org'],
      ['password', 'x'],
    ]);
    expect((await service.anyone.raw('/auth/token/login/', { method: 'POST', body: form })).status).toBe(400);
    const parts = new FormData();
    parts.set(name, 'x');
    const collected = await lab.owner.client.raw('/api/v2/task/collect/pip/', { method: 'POST', body: parts });
    expect([400, 422]).toContain(collected.status);
    expect(
      (await lab.owner.client.post('/api/v2/project/', { ...having(name, {}), name: `P ${name}` })).status,
    ).toBeLessThan(500);
  });

  it('is a type of a task like any other', async () => {
    const body = {
      name: `Task ${name}`,
      command_parallel: 'true',
      type: 'parallel',
      version: '1',
      input_types: having(name, true),
      output_types: having(name, false),
    };
    const { status, body: made } = await lab.owner.client.post('/api/v2/task/?private=true', body);
    expect([status, own(made.input_types, name), own(made.output_types, name)]).toEqual([201, true, false]);
  });
});

it('the folder of a job that another system named as it liked is downloaded under a plain name', async () => {
  const dataset = await lab.dataset([]);
  const name = 'jöb „1“;x="y"\u0100';
  const folder = join(temporaryFolder('names'), name);
  mkdirSync(folder);
  const job = await addJob(service, { project_id: lab.project, dataset_id: dataset });
  await service.database.db.updateTable('jobs').set({ working_dir: folder }).where('id', '=', job).execute();
  const { status, headers } = await lab.owner.client.get(`${lab.base}/job/${job}/download/`);
  expect(status).toBe(200);
  expect(headers.get('content-disposition')).toMatch(/^attachment;filename=[\w.-]+_archive\.zip$/);
});
