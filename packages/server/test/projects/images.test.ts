import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { addPerson, addProfile, addProject, type Person, shareProject } from '../support/plates.ts';
import { type Client, startService, type TestService } from '../support/server.ts';

let service: TestService;
let owner: Person;
let client: Client;
let project: number;
let dataset: string;
let datasetId: number;
let number = 0;

beforeAll(async () => {
  service = await startService();
  owner = await addPerson(service, await addProfile(service), { project_dirs: ['/data'] });
  ({ client } = owner);
  project = await addProject(service, owner, 'Plates');
});

const newDataset = async (images: object[] = []) => {
  const body = { name: `d${++number}`, zarr_dir: `/data/d`, images };
  const answer = await client.post(`/api/v2/project/${project}/dataset/import/`, body);
  expect(answer.status).toBe(201);
  datasetId = answer.body.id;
  dataset = `/api/v2/project/${project}/dataset/${datasetId}/`;
};

const urls = (body: { items: { zarr_url: string }[] }) =>
  body.items.map((image) => image.zarr_url.slice('/data/d/'.length));
const query = async (body?: object, params = '') => (await client.post(`${dataset}images/query/${params}`, body)).body;

describe('one image', () => {
  beforeEach(() => newDataset([{ zarr_url: '/data/d/first' }]));

  it('is added to the end, with an empty answer', async () => {
    const { status, text, headers } = await client.post(`${dataset}images/`, {
      zarr_url: '/data/d//b/',
      origin: '/x/y/',
      attributes: { a: 1 },
      types: { t: 1 },
    });
    expect([status, text, headers.get('content-type')]).toEqual([201, '', null]);
    const page = await query();
    expect(page.items[1]).toEqual({ zarr_url: '/data/d/b', origin: '/x/y', attributes: { a: 1 }, types: { t: true } });
    expect((await client.get(dataset)).body.image_count).toBe(2);
  });

  it.each([['/data/dd/2'], ['/data/d'], ['/data/d/first'], ['/data/d/first/'], ['s3://bucket/x']])(
    'is refused at %s',
    async (zarr_url) => {
      const { status, body } = await client.post(`${dataset}images/`, { zarr_url });
      expect([status, typeof body.detail]).toEqual([422, 'string']);
      expect((await client.get(dataset)).body.image_count).toBe(1);
    },
  );

  it('gets other attributes or types as a whole, or none', async () => {
    await client.post(`${dataset}images/`, {
      zarr_url: '/data/d/x',
      origin: '/o',
      attributes: { a: 1, b: 2 },
      types: { t: true },
    });
    const patch = (body: object) => client.patch(`${dataset}images/`, { zarr_url: '/data/d//x/', ...body });
    expect((await patch({ attributes: { c: 3 } })).body).toEqual({
      zarr_url: '/data/d/x',
      origin: '/o',
      attributes: { c: 3 },
      types: { t: true },
    });
    expect((await patch({ types: { u: false }, origin: '/other' })).body).toMatchObject({
      origin: '/o',
      attributes: { c: 3 },
      types: { u: false },
    });
    expect((await patch({ types: null })).body.types).toEqual({ u: false });
    expect((await patch({})).status).toBe(200);
    expect((await patch({ attributes: null })).status).toBe(422);
    expect((await client.patch(`${dataset}images/`, { zarr_url: '/data/d/none' })).status).toBe(404);
  });

  it('is removed by its exact address', async () => {
    const remove = (zarr_url: string) => client.delete(`${dataset}images/`, { query: { zarr_url } });
    expect((await remove('/data/d/first/')).status).toBe(404);
    expect((await remove('/data/d/first')).status).toBe(204);
    expect((await remove('/data/d/first')).status).toBe(404);
    expect((await client.delete(`${dataset}images/`)).status).toBe(422);
    expect((await client.get(dataset)).body.image_count).toBe(0);
  });
});

describe('a page of images', () => {
  beforeAll(() =>
    newDataset([
      { zarr_url: '/data/d/1', attributes: { a: 1, c: true, d: 'x' }, types: { t: true, u: true } },
      { zarr_url: '/data/d/2' },
      { zarr_url: '/data/d/3' },
    ]),
  );

  it.each<[string, object | undefined, string, number, object]>([
    ['no body', undefined, '', 3, { current_page: 1, page_size: 3 }],
    ['past the end', undefined, '?page=5&page_size=1', 3, { current_page: 3, page_size: 1 }],
    ['no match', { type_filters: { zz: true } }, '?page=5&page_size=10', 0, { current_page: 5, page_size: 10 }],
    ['no match, no size', { type_filters: { zz: true } }, '', 0, { current_page: 1, page_size: 0 }],
    ['a type that is false or missing', { type_filters: { t: false } }, '', 2, {}],
    ['a type nobody has', { type_filters: { zz: false } }, '', 3, {}],
    ['two types', { type_filters: { t: true, u: 'yes' } }, '', 1, {}],
    ['an integer', { attribute_filters: { a: [1] } }, '', 1, {}],
    ['a flag for a number', { attribute_filters: { a: [true] } }, '', 1, {}],
    ['a number for a flag', { attribute_filters: { c: [1] } }, '', 1, {}],
    ['a key with blanks', { attribute_filters: { ' a': [1] } }, '', 1, {}],
    ['a text for a number', { attribute_filters: { a: ['1'] } }, '', 0, {}],
    ['a missing attribute', { attribute_filters: { zz: ['x'] } }, '', 0, {}],
    ['one of several values', { attribute_filters: { d: ['y', 'x'] } }, '', 1, {}],
    ['all keys at once', { attribute_filters: { d: ['x'], a: [2] } }, '', 0, {}],
    ['attribute and type', { attribute_filters: { d: ['x'] }, type_filters: { t: true } }, '', 1, {}],
    ['one address', { zarr_url: '/data/d/2' }, '', 1, {}],
    ['one address, literally', { zarr_url: '/data/d/2/' }, '', 0, {}],
    ['one address that does not pass', { zarr_url: '/data/d/2', type_filters: { t: true } }, '', 0, {}],
    ['one address that passes', { zarr_url: '/data/d/1', attribute_filters: { a: [true], d: ['x'] } }, '', 1, {}],
    ['a retired key', { use_dataset_filters: true }, '', 3, {}],
    [
      'the status, which images do not have',
      { attribute_filters: { __wftask_dataset_image_status__: ['unset'] } },
      '',
      0,
      {},
    ],
  ])('with %s', async (_, body, params, total, page) => {
    expect(await query(body, params)).toMatchObject({ total_count: total, ...page });
  });

  it('takes 1.0 for 1', async () => {
    const answer = await client.raw(`${dataset}images/query/`, {
      method: 'POST',
      body: '{"attribute_filters": {"a": [1.0]}}',
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.body.total_count).toBe(1);
  });

  it.each([
    ['{"attribute_filters": {"a": []}}', ['body', 'attribute_filters'], 'value_error'],
    ['{"attribute_filters": {"a": null}}', ['body', 'attribute_filters', 'a'], 'list_type'],
    ['{"attribute_filters": {"a": [1, 2.5]}}', ['body', 'attribute_filters'], 'value_error'],
    ['{"attribute_filters": {"a": [1, 1.0]}}', ['body', 'attribute_filters'], 'value_error'],
    ['{"attribute_filters": {"a": [1, true]}}', ['body', 'attribute_filters'], 'value_error'],
    ['{"attribute_filters": {"a": [1], " a": [2]}}', ['body', 'attribute_filters'], 'value_error'],
    ['{"type_filters": {"a": "maybe"}}', ['body', 'type_filters', 'a'], 'bool_parsing'],
  ])('refuses %s', async (body, loc, type) => {
    const answer = await client.raw(`${dataset}images/query/`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.status, answer.body.detail[0].loc, answer.body.detail[0].type]).toEqual([422, loc, type]);
  });

  it('refuses a second page without a size, and a sort it does not know', async () => {
    expect((await client.post(`${dataset}images/query/?page=2`)).body.detail).toEqual(expect.any(String));
    for (const sort of ['name', 'attribute:', '-']) {
      expect((await client.post(`${dataset}images/query/?sort=${sort}`)).status).toBe(422);
    }
  });

  it('comes in the order asked for', async () => {
    await newDataset(
      ['b', 'c', 'a'].map((name, index) => ({
        zarr_url: `/data/d/${name}`,
        attributes: name === 'c' ? {} : { n: index },
      })),
    );
    expect(urls(await query())).toEqual(['b', 'c', 'a']);
    expect(urls(await query(undefined, '?sort=zarr_url'))).toEqual(['a', 'b', 'c']);
    expect(urls(await query(undefined, '?sort=-zarr_url'))).toEqual(['c', 'b', 'a']);
    expect(urls(await query(undefined, '?sort=-attribute:n'))).toEqual(['a', 'b', 'c']);
    expect(urls(await query(undefined, '?sort=attribute:n&page=2&page_size=1'))).toEqual(['a']);
  });

  it('is the same from either end of a long list', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `i${String(index).padStart(2, '0')}`);
    await newDataset(names.map((name) => ({ zarr_url: `/data/d/${name}` })));
    for (const [page, size] of [
      [1, 10],
      [2, 10],
      [3, 10],
      [5, 5],
      [4, 7],
      [25, 1],
    ] as const) {
      expect(urls(await query(undefined, `?page=${page}&page_size=${size}`))).toEqual(
        names.slice((page - 1) * size, page * size),
      );
    }
  });
});

describe('a long list that has just come in', () => {
  it('is read with its filters before the database has looked at it', async () => {
    await newDataset(
      Array.from({ length: 50 }, (_, index) => ({ zarr_url: `/data/d/${index}`, attributes: { p: 0 } })),
    );
    const { db } = service.database;
    await sql`alter table images set (autovacuum_enabled = false)`.execute(db);
    await sql`analyze images`.execute(db);
    const many = Array.from({ length: 30_000 }, (_, index) => ({
      zarr_url: `/data/d/${index}`,
      attributes: { p: 1, well: `w${index % 384}` },
    }));
    await newDataset(many);
    // each with each would take minutes
    const { items, total_count } = await query({ attribute_filters: { p: [1] } }, '?page=1&page_size=30000');
    expect([items.length, total_count]).toEqual([30_000, 30_000]);
    await sql`alter table images reset (autovacuum_enabled)`.execute(db);
  });
});

describe('values and types of a dataset', () => {
  it('are sorted, equal numbers count once, whatever the filters', async () => {
    const values = [3, 1, 2, true, 1];
    const texts = ['b', 'a', 'C', '10', '9'];
    await newDataset(
      values.map((value, index) => ({
        zarr_url: `/data/d/${index}`,
        attributes: { n: value, s: texts[index], flag: index > 2 },
        types: { [`t${index}`]: index > 1 },
      })),
    );
    const page = await query({ attribute_filters: { n: [99] } }, '?page=1&page_size=1');
    expect(page.attributes).toEqual({ n: [1, 2, 3], s: ['10', '9', 'C', 'a', 'b'], flag: [false, true] });
    expect(page.types).toEqual(['t0', 't1', 't2', 't3', 't4']);
  });

  it('have the tags that the database would compute, however they came in', async () => {
    const odd = [1, true, 'n1', '1', -0.5, 1e21, 'a\\u001fb', '', 'é', false, 0];
    await newDataset(
      Array.from({ length: 60 }, (_, index) => ({
        zarr_url: `/data/d/${index}`,
        attributes: { k: odd[index % odd.length], ['k\\u001f']: 'x' },
        types: { t: index % 2 === 0, u: true },
      })),
    );
    await client.post(`${dataset}images/`, { zarr_url: '/data/d/one', attributes: { k: 1 } });
    await client.post(`${dataset}images/bulk/`, { attribute_filters: { k: ['1'] }, set_attributes: { k: 2 } });
    const { rows } = await service.database.pool.query(
      `select count(*) as all, count(*) filter (where tags @> image_tags(dataset_id, attributes, types)
         and tags <@ image_tags(dataset_id, attributes, types)) as right from images where dataset_id = $1`,
      [datasetId],
    );
    expect(rows[0]).toEqual({ all: 61, right: 61 });
    expect((await query({ attribute_filters: { k: [1] } })).total_count).toBe(6 + 6 + 1);
  });

  it('are told apart beyond what JavaScript counts to', async () => {
    const images = Array.from(
      { length: 30 },
      (_, index) => `{"zarr_url": "/data/d/${index}", "attributes": {"n": 1234567890123456789${index % 2}}}`,
    );
    const text = `{"name": "big", "zarr_dir": "/data/d", "images": [${images.join(',')}]}`;
    const headers = { 'content-type': 'application/json' };
    const made = await client.raw(`/api/v2/project/${project}/dataset/import/`, {
      method: 'POST',
      body: text,
      headers,
    });
    const path = `/api/v2/project/${project}/dataset/${made.body.id}/images/query/`;
    const found = await client.raw(path, {
      method: 'POST',
      body: '{"attribute_filters": {"n": [12345678901234567891]}}',
      headers,
    });
    expect(found.body.total_count).toBe(15);
    expect(found.text).toContain('"n":[12345678901234567890,12345678901234567891]');
  });

  it('follow every change', async () => {
    await newDataset([
      { zarr_url: '/data/d/1', attributes: { plate: 'p1', well: 'A1' }, types: { t: true } },
      { zarr_url: '/data/d/2', attributes: { plate: 'p2', well: 'A1' }, types: { t: false } },
    ]);
    const values = async () => {
      const { attributes, types, total_count } = await query();
      return { attributes, types, total_count, num_plates: (await client.get(dataset)).body.num_plates };
    };
    expect(await values()).toEqual({
      attributes: { plate: ['p1', 'p2'], well: ['A1'] },
      types: ['t'],
      total_count: 2,
      num_plates: 2,
    });
    await client.patch(`${dataset}images/`, {
      zarr_url: '/data/d/2',
      attributes: { plate: 'p1', well: 'B1' },
      types: {},
    });
    expect(await values()).toEqual({
      attributes: { plate: ['p1'], well: ['A1', 'B1'] },
      types: ['t'],
      total_count: 2,
      num_plates: 1,
    });
    await client.delete(`${dataset}images/?zarr_url=/data/d/1`);
    expect(await values()).toEqual({
      attributes: { plate: ['p1'], well: ['B1'] },
      types: [],
      total_count: 1,
      num_plates: 1,
    });
    await client.post(`${dataset}images/bulk/`, { attribute_filters: { well: ['B1'] }, remove: true });
    expect(await values()).toEqual({ attributes: {}, types: [], total_count: 0, num_plates: 0 });
  });
});

describe('many at once', () => {
  const count = async () => (await client.get(dataset)).body.image_count as number;

  it('a hundred additions give a hundred images, in distinct places', async () => {
    await newDataset();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        client.post(`${dataset}images/`, {
          zarr_url: `/data/d/${index}`,
          attributes: { plate: 'p', well: index % 7 },
          types: { t: true },
        }),
      ),
    );
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
    expect(await count()).toBe(100);
    const page = await query();
    expect(page.items).toHaveLength(100);
    expect(page.attributes).toEqual({ plate: ['p'], well: [0, 1, 2, 3, 4, 5, 6] });
    const { rows } = await service.database.pool.query(
      'select count(distinct position) from images where dataset_id = $1',
      [datasetId],
    );
    expect(rows[0].count).toBe(100);
  });

  it('edits of one image, additions and removals end in a state without loss or deadlock', async () => {
    await newDataset(
      Array.from({ length: 20 }, (_, index) => ({
        zarr_url: `/data/d/${index}`,
        attributes: { a: index, b: 20 - index },
      })),
    );
    const work = Array.from({ length: 20 }, (_, index) => [
      client.patch(`${dataset}images/`, {
        zarr_url: `/data/d/${index}`,
        attributes: { a: 20 - index, b: index, c: 1 },
      }),
      client.post(`${dataset}images/`, { zarr_url: `/data/d/new${index}`, attributes: { b: index, a: index } }),
      client.post(`${dataset}images/bulk/`, { zarr_urls: [`/data/d/${19 - index}`], set_types: { seen: true } }),
    ]).flat();
    expect((await Promise.all(work)).filter((answer) => answer.status >= 300)).toEqual([]);
    expect(await count()).toBe(40);
    expect((await query({ type_filters: { seen: true }, attribute_filters: { c: [1] } })).total_count).toBe(20);
    const { rows } = await service.database.pool.query(
      `select (select sum(num_images) from image_facets where dataset_id = $1 and kind = 'attribute')::int as facets,
              (select count(*) from images, jsonb_each(attributes) where dataset_id = $1)::int as values`,
      [datasetId],
    );
    expect(rows[0].facets).toBe(rows[0].values);
  });

  it('changes attributes and types of those that pass, in one go', async () => {
    await newDataset(
      Array.from({ length: 6 }, (_, index) => ({ zarr_url: `/data/d/${index}`, attributes: { n: index, old: 1 } })),
    );
    const bulk = (body: object) => client.post(`${dataset}images/bulk/`, body);
    expect(
      (
        await bulk({
          attribute_filters: { n: [1, 2, 9] },
          set_attributes: { well: 'A' },
          unset_attributes: ['old'],
          set_types: { t: true },
        })
      ).body,
    ).toEqual({ changed: 2 });
    expect((await query({ type_filters: { t: true } })).items[0]).toMatchObject({
      attributes: { n: 1, well: 'A' },
      types: { t: true },
    });
    expect((await bulk({ zarr_urls: ['/data/d/0/', '/data/d/none'], remove: true })).body).toEqual({ changed: 1 });
    expect(await count()).toBe(5);
    for (const wrong of [
      {},
      { remove: true },
      { zarr_urls: [] },
      { zarr_urls: [], remove: true, set_types: { t: true } },
      { x: 1 },
    ]) {
      expect((await bulk(wrong)).status).toBe(422);
    }
  });

  it('go out as CSV or JSON, filtered', async () => {
    await newDataset([
      { zarr_url: '/data/d/1', attributes: { plate: 'p, "q"', n: 1 }, types: { t: true } },
      { zarr_url: '/data/d/2', origin: '/data/d/1', attributes: { n: 2.5 } },
    ]);
    const csv = await client.post(`${dataset}images/export/?format=csv`);
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(csv.text).toBe('zarr_url,origin,n,plate,t\r\n/data/d/1,,1,"p, ""q""",true\r\n/data/d/2,/data/d/1,2.5,,\r\n');
    const json = await client.post(`${dataset}images/export/`, { type_filters: { t: false } });
    expect(json.body).toEqual([{ zarr_url: '/data/d/2', origin: '/data/d/1', attributes: { n: 2.5 }, types: {} }]);
  });
});

describe('checks before a run', () => {
  it('name the types that some images have and others have not', async () => {
    await newDataset([
      {
        zarr_url: '/data/d/1',
        attributes: { k: 1 },
        types: { is_3D: true, illum_corr: true, registered: false, all: true },
      },
      { zarr_url: '/data/d/2', attributes: { k: 1 }, types: { is_3D: false, all: true } },
      { zarr_url: '/data/d/3', types: { all: true } },
    ]);
    const path = `${dataset}images/verify-unique-types/?workflowtask_id=987654`;
    expect((await client.post(path)).body).toEqual(['illum_corr', 'is_3D']);
    expect((await client.get(path)).body).toEqual(['illum_corr', 'is_3D']);
    expect((await client.post(path, { type_filters: { illum_corr: true } })).body).toEqual([]);
    expect((await client.post(path, { attribute_filters: { k: [1] }, type_filters: { is_3D: true } })).body).toEqual(
      [],
    );
    expect(
      (await client.post(path, { attribute_filters: { __wftask_dataset_image_status__: ['unset'] } })).body,
    ).toEqual(['illum_corr', 'is_3D']);
    expect(
      (await client.post(path, { attribute_filters: { __wftask_dataset_image_status__: ['done'] } })).body,
    ).toEqual([]);
    expect((await client.post(`${dataset}images/verify-unique-types/`)).status).toBe(422);
  });

  it('list what the task before has not done', async () => {
    const { db, pool } = service.database;
    await newDataset([1, 2, 3, 4].map((index) => ({ zarr_url: `/data/d/${index}`, attributes: { i: index } })));
    const insert = async (sql: string, values: unknown[]) =>
      (await pool.query<{ id: number }>(`${sql} returning id`, values)).rows[0]!.id;
    const group = await insert(
      `insert into task_groups (user_id, resource_id, origin, pkg_name, version)
       select $1, resource_id, 'other', 'p', '1' from profiles join users on users.profile_id = profiles.id where users.id = $1`,
      [owner.id],
    );
    const task = (name: string, type: string, output = '{}') =>
      insert(`insert into tasks (taskgroupv2_id, name, type, version, output_types) values ($1, $2, $3, '1', $4)`, [
        group,
        name,
        type,
        output,
      ]);
    const tasks = [
      await task('a', 'parallel'),
      await task('b', 'converter_non_parallel'),
      await task('c', 'parallel', '{"x": true}'),
      await task('d', 'parallel'),
    ];
    const workflow = await insert(`insert into workflows (name, project_id) values ('w', $1)`, [project]);
    const steps: number[] = [];
    for (const [order, id] of tasks.entries()) {
      steps.push(
        await insert(
          `insert into workflow_tasks (workflow_id, task_id, "order", task_type) values ($1, $2, $3, 'parallel')`,
          [workflow, id, order],
        ),
      );
    }
    const job = await insert(
      `insert into jobs (user_email, dataset_dump, workflow_dump, project_dump, fractal_server_version, first_task_index, last_task_index, status)
       values ('x', '{}', '{}', '{}', 'x', 0, 0, 'done')`,
      [],
    );
    const run = await insert(
      `insert into history_runs (dataset_id, workflowtask_id, job_id, workflowtask_dump, task_group_dump, status, num_available_images)
       values ($1, $2, $3, '{}', '{}', 'failed', 4)`,
      [datasetId, steps[0], job],
    );
    for (const [url, status] of [
      ['1', 'done'],
      ['2', 'failed'],
      ['3', 'submitted'],
    ]) {
      const unit = await insert(`insert into history_units (history_run_id, logfile, status) values ($1, 'x', $2)`, [
        run,
        status,
      ]);
      await db
        .insertInto('history_image_cache')
        .values({
          dataset_id: datasetId,
          workflowtask_id: steps[0]!,
          zarr_url: `/data/d/${url}`,
          latest_history_unit_id: unit,
        })
        .execute();
    }
    const ask = (step: number, body: unknown = {}, at = dataset) =>
      client.post(`${at}images/non-processed/?workflow_id=${workflow}&workflowtask_id=${step}`, body);
    expect((await ask(steps[0]!)).body).toEqual([]);
    expect((await ask(steps[1]!)).body).toEqual(['/data/d/2', '/data/d/3', '/data/d/4']);
    expect((await ask(steps[1]!, { attribute_filters: { i: [1, 4] } })).body).toEqual(['/data/d/4']);
    expect((await ask(steps[2]!)).body).toEqual([]);
    expect((await ask(steps[3]!)).body).toEqual([]);
    const nowhere = `/api/v2/project/${project}/dataset/987654/`;
    expect((await ask(steps[0]!, {}, nowhere)).status).toBe(200);
    expect((await ask(steps[1]!, {}, nowhere)).status).toBe(404);
    expect((await ask(987_654)).status).toBe(404);
    expect((await client.post(`${dataset}images/non-processed/?workflow_id=987654&workflowtask_id=1`, {})).status).toBe(
      404,
    );
    expect((await ask(steps[1]!, null)).status).toBe(422);
    const status = async (...statuses: string[]) =>
      (
        await client.post(`${dataset}images/verify-unique-types/?workflowtask_id=${steps[0]}`, {
          attribute_filters: { __wftask_dataset_image_status__: statuses },
        })
      ).status;
    expect(await status('done', 'failed')).toBe(200);
    await client.delete(`${dataset}images/?zarr_url=/data/d/1`);
    expect(
      await db
        .selectFrom('history_image_cache')
        .select('zarr_url')
        .where('dataset_id', '=', datasetId)
        .orderBy('zarr_url')
        .execute(),
    ).toEqual([{ zarr_url: '/data/d/2' }, { zarr_url: '/data/d/3' }]);
  });
});

describe('who may do what with images', () => {
  it('follows the permissions in the project', async () => {
    await newDataset([{ zarr_url: '/data/d/1', attributes: { well: 'A1' } }]);
    const profile = await addProfile(service);
    const roles: [string, Person, number, number][] = [
      ['rwx', await addPerson(service, profile), 200, 201],
      ['rw', await addPerson(service, profile), 200, 201],
      ['r', await addPerson(service, profile), 200, 403],
      ['pending', await addPerson(service, profile), 403, 403],
      ['stranger', await addPerson(service, profile), 403, 403],
      ['guest account', await addPerson(service, profile, { is_guest: true }), 200, 403],
    ];
    for (const [role, person] of roles) {
      if (role === 'stranger') continue;
      const permissions = role === 'pending' || role === 'guest account' ? 'rwx' : (role as 'r' | 'rw' | 'rwx');
      await shareProject(service, project, person, permissions, role !== 'pending');
    }
    for (const [role, person, read, write] of roles) {
      expect([role, (await person.client.post(`${dataset}images/query/`)).status]).toEqual([role, read]);
      const filtered = { attribute_filters: { well: ['A1'] } };
      const page = await person.client.post(`${dataset}images/query/?page=1&page_size=10`, filtered);
      const { total_count } = page.body as { total_count?: number };
      expect([role, page.status, total_count]).toEqual([role, read, read === 200 ? 1 : undefined]);
      expect([role, (await person.client.get(`${dataset}export/`)).status]).toEqual([role, read]);
      const added = await person.client.post(`${dataset}images/`, { zarr_url: `/data/d/${person.id}` });
      expect([role, added.status]).toEqual([role, write]);
    }
  });
});
