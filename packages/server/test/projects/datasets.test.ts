import { beforeAll, describe, expect, it } from 'vitest';

import { addPerson, addProfile, addProject, type Person, shareProject } from '../support/plates.ts';
import { type Client, startService, type TestService } from '../support/server.ts';

let service: TestService;
let owner: Person;
let client: Client;
let project: number;
let url: string;

const DIRS = ['/data', '/data2', 's3://bucket/key'];

beforeAll(async () => {
  service = await startService();
  const profile = await addProfile(service);
  owner = await addPerson(service, profile, { project_dirs: DIRS });
  ({ client } = owner);
  project = await addProject(service, owner, 'My Proj');
  url = `/api/v2/project/${project}/dataset/`;
});

const zarrDir = async (body: Record<string, unknown>) => {
  const { status, body: answer } = await client.post(url, body);
  return status === 201 ? { id: answer.id as number, zarr_dir: answer.zarr_dir as string } : status;
};

describe('creating a dataset', () => {
  it('puts it below the first project folder, under names that are safe on disk', async () => {
    const { status, body } = await client.post(url, { name: ' DS one.x ' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      name: 'DS one.x',
      project_id: project,
      project: expect.objectContaining({
        id: project,
        name: 'My Proj',
        is_owner: true,
        permissions: 'rwx',
        owner_email: owner.email,
      }),
      timestamp_created: expect.stringMatching(/\+00:00$/),
      zarr_dir: `/data/fractal/${project}_my_proj/${body.id}_ds_one_x`,
      is_starred: false,
      image_count: 0,
      num_plates: 0,
    });
  });

  it.each<[Record<string, unknown>, string]>([
    [{ project_dir: '/data2/' }, '/data2/fractal/P_my_proj/ID_d'],
    [{ project_dir: '/data2/./' }, '/data2/fractal/P_my_proj/ID_d'],
    [{ project_dir: '/data2', zarr_subfolder: '.' }, '/data2'],
    [{ project_dir: '/data2', zarr_subfolder: 'a//b/./c/' }, '/data2/a/b/c'],
    [{ project_dir: 's3://bucket/key' }, 's3://bucket/key/fractal/P_my_proj/ID_d'],
    [{ project_dir: 's3://bucket/key', zarr_subfolder: 'x y' }, 's3://bucket/key/x y'],
    [{ project_dir: null, zarr_subfolder: null }, '/data/fractal/P_my_proj/ID_d'],
  ])('with %j lies at %s', async (body, expected) => {
    const made = (await zarrDir({ name: 'd', ...body })) as { id: number; zarr_dir: string };
    expect(made.zarr_dir).toBe(expected.replace('P', String(project)).replace('ID', String(made.id)));
  });

  it.each<[Record<string, unknown>, number]>([
    [{ project_dir: '//data2' }, 403],
    [{ project_dir: 's3://bucket/key/' }, 403],
    [{ project_dir: '/nope' }, 403],
    [{ project_dir: '/data2', zarr_subfolder: 'a/../b' }, 422],
    [{ project_dir: '/data2', zarr_subfolder: '/abs' }, 422],
    [{ zarr_subfolder: 'x' }, 422],
    [{ project_dir: 's3://b/k' }, 422],
    [{ project_dir: 'rel' }, 422],
    [{ zarr_dir: '/data/x' }, 422],
    [{ name: 'a\tb' }, 422],
  ])('with %j is refused with %i, and leaves nothing', async (body, status) => {
    const before = (await client.get(url)).body.length as number;
    expect(await zarrDir({ name: 'd', ...body })).toBe(status);
    expect((await client.get(url)).body).toHaveLength(before);
  });

  it('takes the folders of the caller, not of the owner', async () => {
    const guest = await addPerson(service, await addProfile(service), { project_dirs: ['/guest'] });
    await shareProject(service, project, guest, 'rw');
    const { body } = await guest.client.post(url, { name: 'of the guest' });
    expect(body.zarr_dir).toBe(`/guest/fractal/${project}_my_proj/${body.id}_of_the_guest`);
    expect((await guest.client.post(url, { name: 'd', project_dir: '/data' })).status).toBe(403);
  });
});

describe('datasets', () => {
  it('are renamed, and stay where they are', async () => {
    const { body } = await client.post(url, { name: 'before' });
    const renamed = await client.patch(`${url}${body.id}/`, { name: ' after ' });
    expect([renamed.status, renamed.body]).toEqual([200, { ...body, name: 'after' }]);
    expect((await client.patch(`${url}${body.id}/`, {})).body.name).toBe('after');
    for (const wrong of [{ name: null }, { name: 'a\tb' }, { zarr_dir: '/x' }, { is_starred: true }]) {
      expect((await client.patch(`${url}${body.id}/`, wrong)).status).toBe(422);
    }
  });

  it('are listed with stars first, then by name as bytes', async () => {
    const other = await addProject(service, owner, 'Ordered');
    const path = `/api/v2/project/${other}/dataset/`;
    for (const name of ['b', 'a b', 'Z z', '_c', 'a-b', 'B', 'ab', 'A', 'a']) await client.post(path, { name });
    const last = (await client.post(path, { name: 'zz' })).body.id;
    expect((await client.post(`${path}${last}/star/`)).text).toBe('');
    expect((await client.post(`${path}${last}/star/`)).status).toBe(200);
    const names = (await client.get(path)).body.map((dataset: { name: string }) => dataset.name);
    expect(names).toEqual(['zz', 'A', 'B', 'Z z', '_c', 'a', 'a b', 'a-b', 'ab', 'b']);
    await client.post(`${path}${last}/unstar/`);
    expect((await client.get(`${path}?history=false`)).body.at(-1).name).toBe('zz');
  });

  it('are not found elsewhere than in their project', async () => {
    const { body } = await client.post(url, { name: 'here' });
    const other = await addProject(service, owner, 'Elsewhere');
    for (const path of [
      `/api/v2/project/${other}/dataset/${body.id}/`,
      `${url}987654/`,
      `/api/v2/project/987654/dataset/${body.id}/`,
    ]) {
      expect((await client.get(path)).status).toBe(404);
      expect((await client.delete(path)).status).toBe(404);
    }
    expect((await client.get(`${url}99999999999/`)).status).toBe(404);
  });

  it('are deleted with their images and history; jobs stay', async () => {
    const { db, pool } = service.database;
    const { body } = await client.post(url, { name: 'to delete' });
    await client.post(`${url}${body.id}/images/`, { zarr_url: `${body.zarr_dir}/a`, attributes: { plate: 'p' } });
    const job = await db
      .insertInto('jobs')
      .values({
        dataset_id: body.id,
        project_id: project,
        user_email: owner.email,
        dataset_dump: '{}',
        workflow_dump: '{}',
        project_dump: '{}',
        fractal_server_version: 'x',
        first_task_index: 0,
        last_task_index: 0,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    expect((await client.delete(`${url}${body.id}/`)).status).toBe(422);
    await db.updateTable('jobs').set({ status: 'done' }).where('id', '=', job.id).execute();
    await pool.query(
      `with run as (insert into history_runs (dataset_id, job_id, workflowtask_dump, task_group_dump, status, num_available_images)
         values ($1, $2, '{}', '{}', 'done', 1) returning id)
       insert into history_units (history_run_id, logfile, status) select id, 'x', 'done' from run`,
      [body.id, job.id],
    );
    expect((await client.delete(`${url}${body.id}/`)).status).toBe(204);
    for (const table of ['images', 'image_facets', 'history_runs']) {
      const { rows } = await pool.query(`select 1 from ${table} where dataset_id = $1`, [body.id]);
      expect([table, rows.length]).toEqual([table, 0]);
    }
    expect((await pool.query('select 1 from history_units')).rowCount).toBe(0);
    expect(await db.selectFrom('jobs').select('dataset_id').where('id', '=', job.id).execute()).toEqual([
      { dataset_id: null },
    ]);
  });
});

describe('import', () => {
  const load = (body: Record<string, unknown>) => client.post(`${url}import/`, { name: 'imported', ...body });

  it('takes images in order, ignoring what old exports hold, and export gives them back', async () => {
    const { status, body } = await load({
      zarr_dir: '/data/z/',
      images: [
        { zarr_url: '/data/z/b', attributes: { k: 1, s: 'x', b: true }, types: { t: 'yes', u: false } },
        { zarr_url: '/data/z//a/', origin: '/data/z/b/', x: 1 },
      ],
      filters: {},
      attribute_filters: {},
      history: [],
    });
    expect([status, body.zarr_dir, body.image_count]).toEqual([201, '/data/z', 2]);
    const exported = await client.get(`${url}${body.id}/export/`);
    expect(exported.body).toEqual({
      name: 'imported',
      zarr_dir: '/data/z',
      images: [
        { zarr_url: '/data/z/b', origin: null, attributes: { k: 1, s: 'x', b: true }, types: { t: true, u: false } },
        { zarr_url: '/data/z/a', origin: '/data/z/b', attributes: {}, types: {} },
      ],
    });
    const again = await client.post(`${url}import/`, exported.body);
    expect((await client.get(`${url}${again.body.id}/export/`)).body).toEqual(exported.body);
  });

  it('keeps numbers as they were written', async () => {
    const text =
      '{"name":"n","zarr_dir":"/data/n","images":[{"zarr_url":"/data/n/a","attributes":{"a":2.0,"b":12345678901234567890,"c":2,"d":0.10}}]}';
    const { body } = await client.raw(`${url}import/`, {
      method: 'POST',
      body: text,
      headers: { 'content-type': 'application/json' },
    });
    const exported = await client.get(`${url}${body.id}/export/`);
    expect(exported.text).toMatch(/"a":\s?2\.0,.*"b":\s?12345678901234567890,.*"c":\s?2,.*"d":\s?0\.10/);
    const page = await client.post(`${url}${body.id}/images/query/`);
    expect(page.text).toContain('"a":[2.0]');
  });

  it('takes S3 addresses, and an empty dataset', async () => {
    const s3 = await load({ zarr_dir: 's3://bucket/key/zz/', images: [{ zarr_url: 's3://bucket/key/zz//a/' }] });
    expect([s3.status, s3.body.zarr_dir]).toEqual([201, 's3://bucket/key/zz']);
    expect((await load({ zarr_dir: '/data' })).status).toBe(201);
  });

  it.each<[string, Record<string, unknown>, unknown]>([
    ['an address of another kind', { zarr_dir: 'http://x/y' }, [['body', 'zarr_dir'], 'value_error']],
    ['an image outside', { images: [{ zarr_url: '/data/zz/a' }] }, [['body'], 'value_error']],
    ['an image that is the folder itself', { images: [{ zarr_url: '/data/z' }] }, [['body'], 'value_error']],
    ['an image twice', { images: [{ zarr_url: '/data/z/a' }, { zarr_url: '/data/z/a/' }] }, [['body'], 'value_error']],
    ['no list', { images: {} }, [['body', 'images'], 'list_type']],
    ['an image without address', { images: [{}] }, [['body', 'images', 0, 'zarr_url'], 'missing']],
    ['an image that is no object', { images: [3] }, [['body', 'images', 0], 'model_attributes_type']],
    [
      'a flag that is none',
      { images: [{ zarr_url: '/data/z/a', types: { a: 'maybe' } }] },
      [['body', 'images', 0, 'types', 'a'], 'bool_parsing'],
    ],
    [
      'an empty key',
      { images: [{ zarr_url: '/data/z/a', types: { ' ': true } }] },
      [['body', 'images', 0, 'types'], 'value_error'],
    ],
    [
      'two equal keys',
      { images: [{ zarr_url: '/data/z/a', attributes: { a: 1, ' a': 2 } }] },
      [['body', 'images', 0, 'attributes'], 'value_error'],
    ],
    [
      'a list as attribute',
      { images: [{ zarr_url: '/data/z/a', attributes: { a: [1] } }] },
      [['body', 'images', 0, 'attributes', 'a'], 'value_error'],
    ],
    [
      'an origin that is no address',
      { images: [{ zarr_url: '/data/z/a', origin: 'x' }] },
      [['body', 'images', 0, 'origin'], 'value_error'],
    ],
    [
      'an address of 5000 bytes',
      { images: [{ zarr_url: `/data/z/${'a'.repeat(5000)}` }] },
      [['body', 'images', 0, 'zarr_url'], 'value_error'],
    ],
  ])('refuses %s', async (_, body, expected) => {
    const answer = await load({ zarr_dir: '/data/z', ...body });
    expect(answer.status).toBe(422);
    expect([answer.body.detail[0].loc, answer.body.detail[0].type]).toEqual(expected);
  });

  it('refuses a number that overflows', async () => {
    const body = '{"name":"n","zarr_dir":"/data/n","images":[{"zarr_url":"/data/n/a","attributes":{"a":1e999}}]}';
    const answer = await client.raw(`${url}import/`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['body', 'images', 0, 'attributes', 'a']]);
  });

  it('refuses folders that are not the caller’s, compared by component', async () => {
    for (const zarr_dir of ['/nope/z', '/data3', '/dataz']) {
      const { status, body } = await load({ zarr_dir });
      expect([status, typeof body.detail]).toEqual([422, 'string']);
    }
  });
});

describe('the list over all projects', () => {
  it('has projects that were shared and accepted, and none that are pending', async () => {
    const reader = await addPerson(service, await addProfile(service));
    const [accepted, pending, own] = [
      await addProject(service, owner, 'Shared 100% A'),
      await addProject(service, owner, 'Shared B'),
      await addProject(service, reader, 'Own C'),
    ];
    for (const id of [accepted, pending]) await client.post(`/api/v2/project/${id}/dataset/`, { name: `in ${id}` });
    await reader.client.post(`/api/v2/project/${own}/dataset/`, { name: 'mine' });
    await shareProject(service, accepted, reader, 'r');
    await shareProject(service, pending, reader, 'rwx', false);
    const list = async (query: string) => {
      const { body } = await reader.client.get(`/api/v2/dataset/${query}`);
      return { ...body, items: body.items.map((item: { name: string }) => item.name) };
    };
    expect(await list('')).toEqual({
      current_page: 1,
      page_size: 2,
      total_count: 2,
      items: ['mine', `in ${accepted}`],
    });
    expect((await list('?only_owned=true')).items).toEqual(['mine']);
    expect((await list('?project_name=shared')).items).toEqual([`in ${accepted}`]);
    expect((await list('?dataset_name=MIN')).items).toEqual(['mine']);
    expect((await list('?dataset_name=%25')).items).toEqual([]);
    expect((await list('?project_name=%25')).items).toEqual([`in ${accepted}`]);
    expect((await list('?dataset_name=_')).items).toEqual([]);
    expect(await list('?page=2&page_size=1')).toEqual({
      current_page: 2,
      page_size: 1,
      total_count: 2,
      items: [`in ${accepted}`],
    });
    expect((await list('?page=9&page_size=1')).items).toEqual([]);
    const [item] = (await reader.client.get('/api/v2/dataset/?project_name=shared')).body.items;
    expect(item).toMatchObject({
      owner_email: owner.email,
      image_count: 0,
      project: { permissions: 'r', is_owner: false },
    });
  });
});
