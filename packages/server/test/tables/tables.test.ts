/** Tables of measurements: who gets them, in which forms, and what bad ones do. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readColumns } from '@service/contract';

import { arrayOf, put } from '../support/ome-zarr.ts';
import { addDataset } from '../support/people.ts';
import { addPerson, addProfile, addProject, type Person, shareProject } from '../support/plates.ts';
import { type Answer, startService, type TestService } from '../support/server.ts';
import { addJob } from '../support/tasks.ts';
import { textChunk, writeAnnData, writeCsv, writeJson, writeNumbers, writeParquet } from '../support/tables.ts';

const root = mkdtempSync(join(tmpdir(), 'service-tables-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const place = (...parts: string[]) => join(root, 'anna', ...parts);

let service: TestService;
let profile: number;
let anna: Person;
let token: string;
let project: number;

beforeAll(async () => {
  const settings = { SERVICE_DATA_DIR: join(root, 'data'), SERVICE_TABLES_SIZE: '64M' };
  service = await startService({ settings });
  profile = await addProfile(service);
  mkdirSync(place(), { recursive: true });
  anna = await addPerson(service, profile, { project_dirs: [place()] });
  token = await service.login(anna.email, 'some-password');
  project = await addProject(service, anna, 'p');
});

type Attributes = Record<string, string | number | boolean>;
interface Listed {
  path: string;
  attributes?: Attributes;
  origin?: string | null;
}

/** A dataset with these images, whatever is on disk; gives its address. */
async function datasetOf(images: Listed[]): Promise<string> {
  const id = await addDataset(service, project, { name: `d${Math.random()}`, zarr_dir: place() });
  if (images.length > 0) {
    const rows = images.map(({ path, attributes = {}, origin = null }) => ({
      zarr_url: path,
      attributes,
      origin,
      types: {},
    }));
    for (const image of rows) {
      const answer = await anna.client.post(`/api/v2/project/${project}/dataset/${id}/images/`, image);
      // an image outside of the folder of the dataset is put there by hand
      if (answer.status !== 201) {
        await service.database.db
          .insertInto('images')
          .values({
            dataset_id: id,
            position: 1000 + Math.floor(Math.random() * 1e6),
            zarr_url: image.zarr_url,
            origin: image.origin,
            attributes: JSON.stringify(image.attributes),
            types: '{}',
          })
          .execute();
      }
    }
  }
  return `/api/v2/project/${project}/dataset/${id}`;
}

const one = async (path: string) => datasetOf([{ path, attributes: { plate: 'p', well: 'B03' } }]);

type Query = Record<string, string | number>;
const tableOf = (base: string, query: Query = {}, who = anna.client, name = 'nuclei'): Promise<Answer> =>
  who.get(`${base}/tables/${name}/`, { query });

async function raw(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(service.url + path, {
    ...init,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...(init.headers as object) },
  });
}

/** Two wells with three and two nuclei, each in a kind of its own. */
async function twoWells(name: string): Promise<{ base: string; images: string[] }> {
  const images = ['B/03/0', 'C/04/0'].map((well) => place(`${name}.zarr`, well));
  writeAnnData(images[0]!, [1, 2, 3], { area: [10, 20, NaN], mean: [0.5, 1.5, 2.5] });
  writeParquet(images[1]!, [
    { name: 'label', data: [1n, 2n], type: 'INT64' },
    { name: 'area', data: new Float64Array([30, 40]), type: 'DOUBLE' },
    { name: 'class', data: ['mitotic', '=1+1'], type: 'STRING' },
  ]);
  const base = await datasetOf([
    { path: images[0]!, attributes: { plate: name, well: 'B03', dose: 1.5 } },
    { path: images[1]!, attributes: { plate: name, well: 'C04', treatment: 'KIF11' } },
  ]);
  return { base, images };
}

it('what a task has just written is there at once, also for who looked a moment before', async () => {
  const { db } = service.database;
  const path = place('fresh.zarr/B/03/0');
  put(join(path, '.zattrs'), {});
  const base = await one(path);
  const dataset_id = Number(base.split('/').at(-1));
  const names = async () =>
    ((await anna.client.get(`${base}/tables/`)).body as { tables: { name: string }[] }).tables.map(({ name }) => name);
  const job_id = await addJob(service, { project_id: project, workflow_id: null, dataset_id });
  const dumps = { job_id, workflowtask_dump: '{}', task_group_dump: '{}', num_available_images: 1 };
  const run = await db
    .insertInto('history_runs')
    .values({ dataset_id, status: 'submitted', ...dumps })
    .returning('id')
    .executeTakeFirstOrThrow();
  expect((await anna.client.get(`${base}/contents/`)).status).toBe(200);
  expect(await names()).toEqual([]);
  writeCsv(path, 'label,area\n1,10');
  await db.updateTable('history_runs').set({ status: 'done' }).where('id', '=', run.id).execute();
  expect(await names()).toEqual(['nuclei']);
});

describe('people', () => {
  it('get tables of projects that they may read, and nobody else does', async () => {
    const { base, images } = await twoWells('shared');
    const reader = await addPerson(service, profile, { project_dirs: [join(root, 'reader')] });
    const invited = await addPerson(service, profile, { project_dirs: [join(root, 'invited')] });
    const stranger = await addPerson(service, profile, { project_dirs: [join(root, 'stranger')] });
    await shareProject(service, project, reader, 'r');
    await shareProject(service, project, invited, 'rwx', false);
    const all = [
      (who: Person) => who.client.get(`${base}/contents/`),
      (who: Person) => who.client.get(`${base}/tables/`),
      (who: Person) => tableOf(base, {}, who.client),
      (who: Person) => who.client.get(`${base}/tables/nuclei/groups/`),
      (who: Person) => who.client.post(`${base}/tables/nuclei/query/`, { zarr_urls: [images[0]] }),
      (who: Person) => who.client.post(`${base}/tables/nuclei/groups/`, {}),
    ];
    for (const ask of all) {
      const statuses = [];
      for (const who of [anna, reader, invited, stranger]) statuses.push((await ask(who)).status);
      expect(statuses).toEqual([200, 200, 403, 403]);
    }
    expect((await tableOf(base, {}, service.anyone)).status).toBe(401);
  });

  it('get tables of images of the dataset only', async () => {
    const { base } = await twoWells('listed');
    writeAnnData(place('unlisted'), [1], { area: [1] });
    const asked = await anna.client.post(`${base}/tables/nuclei/query/`, { zarr_urls: [place('unlisted')] });
    expect([asked.status, asked.text]).toEqual([404, expect.stringContaining('There is no image')]);
  });

  it('are told of images in folders that they cannot read, and get the others', async () => {
    const image = place('mine');
    writeAnnData(image, [1], { area: [1] });
    writeAnnData(join(root, 'elsewhere/image'), [1], { area: [2] });
    const base = await datasetOf([
      { path: image },
      { path: join(root, 'elsewhere/image') },
      { path: 's3://bucket/image' },
    ]);
    const { status, body } = await tableOf(base);
    expect([status, body.total_count]).toEqual([200, 1]);
    expect(body.problems.map((problem: { kind: string }) => problem.kind)).toEqual(['no_access', 'no_access']);
    expect((await tableOf(await datasetOf([{ path: join(root, 'elsewhere/image') }]))).status).toBe(403);
    expect((await tableOf(await datasetOf([{ path: 's3://bucket/image' }]))).status).toBe(422);
  });

  it('do not get files that a link in a table leads to', async () => {
    const image = place('linked');
    const path = writeCsv(image, 'label,area\n1,2\n');
    const secret = join(root, 'secret.csv');
    writeFileSync(secret, 'label,area\n7,7\n');
    rmSync(join(path, 'table.csv'));
    symlinkSync(secret, join(path, 'table.csv'));
    const { status, text } = await tableOf(await one(image));
    expect([status, text]).toEqual([422, expect.stringContaining('outside the folders you can read')]);
  });
});

it('what somebody was refused through a link is not kept from those who may see it', async () => {
  const [image, other] = [place('half/a'), place('half/b')];
  const path = writeCsv(image, 'label,area\n1,2\n');
  writeCsv(other, 'label,area\n1,3\n');
  const [bert, colleague] = await Promise.all(
    ['bert', 'colleague'].map((name) => addPerson(service, profile, { project_dirs: [join(root, name)] })),
  );
  for (const who of [bert!, colleague!]) await shareProject(service, project, who, 'r');
  mkdirSync(join(root, 'bert'));
  writeFileSync(join(root, 'bert/table.csv'), 'label,area\n7,7\n');
  rmSync(join(path, 'table.csv'));
  symlinkSync(join(root, 'bert/table.csv'), join(path, 'table.csv'));
  const base = await datasetOf([{ path: image }, { path: other }]);
  const count = async (who: Person) => (await tableOf(base, {}, who.client)).body.total_count as number;
  expect([await count(colleague!), await count(bert!), await count(colleague!)]).toEqual([1, 2, 1]);
});

describe('the list of tables', () => {
  it('tells kinds, columns and how many images have them', async () => {
    const { base, images } = await twoWells('list');
    const plate = place('list.zarr');
    writeCsv(plate, 'well,drug\nB03,dmso\nC04,taxol\n', {
      name: 'drugs',
      attributes: { type: 'condition_table', index_key: undefined },
    });
    const { status, body } = await anna.client.get(`${base}/tables/`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ num_images: 2, num_problems: 0 });
    expect(body.attributes.sort()).toEqual(['dose', 'drug', 'plate', 'treatment', 'well']);
    expect(body.tables).toMatchObject([
      {
        name: 'nuclei',
        level: 'image',
        types: ['feature_table'],
        backends: ['anndata', 'parquet'],
        versions: ['1'],
        index: 'label',
        num_images: 2,
        num_rows: 5,
        columns: [
          { name: 'label', type: 'integer', num_images: 2 },
          { name: 'area', type: 'number', num_images: 2 },
          { name: 'mean', type: 'number', num_images: 1 },
          { name: 'class', type: 'text', num_images: 1 },
        ],
      },
      { name: 'drugs', level: 'plate', types: ['condition_table'], num_images: 1 },
    ]);
    expect(images).toHaveLength(2);
  });

  it('names what cannot be read, and images that are not there', async () => {
    const image = place('halfway');
    writeAnnData(image, [1], { area: [1] }, { names: ['nuclei', 'gone', '../../elsewhere', 'a/b'] });
    const base = await datasetOf([{ path: image }, { path: place('nowhere') }]);
    const { body } = await anna.client.get(`${base}/tables/`);
    expect(body.tables.map(({ name }: { name: string }) => name)).toEqual(['nuclei']);
    expect(body.problems.map(({ kind, table }: { kind: string; table: string }) => [kind, table])).toEqual([
      ['unreadable', 'gone'],
      ['no_image', null],
    ]);
  });

  it('shows other versions over a plate as such', async () => {
    const images = ['B/03/0', 'C/04/0'].map((well) => place('versions.zarr', well));
    writeAnnData(images[0]!, [1], { area: [1] });
    writeAnnData(images[1]!, [1], { area: [1] }, { attributes: { table_version: '2' } });
    const { body } = await anna.client.get(`${await datasetOf(images.map((path) => ({ path })))}/tables/`);
    expect(body.tables[0].versions).toEqual(['1', '2']);
  });
});

describe('the contents of a dataset', () => {
  const contentsOf = (base: string) => anna.client.get(`${base}/contents/`);
  const channel = (label: unknown, wavelength_id: unknown) => ({ label, wavelength_id });

  function writeContents(
    path: string,
    channels: unknown,
    labels: unknown,
    tables: Record<string, unknown> = {},
  ): string {
    put(join(path, '.zattrs'), { omero: { channels } });
    put(join(path, 'labels/.zattrs'), { labels });
    put(join(path, 'tables/.zattrs'), { tables: Object.keys(tables) });
    for (const [name, type] of Object.entries(tables)) put(join(path, `tables/${name}/.zattrs`), { type });
    return path;
  }

  it('are names of channels, label images and tables, each once, as versions 0.4 and 0.5 write them', async () => {
    const dapi = channel('DAPI', 'A01_C01');
    const first = writeContents(place('contents/a'), [dapi, { label: 'GFP' }], ['nuclei'], {
      FOV_ROI_table: 'roi_table',
    });
    const second = place('contents/b');
    const omero = { channels: [dapi, { wavelength_id: 'A02_C02' }, { color: '00FF00' }] };
    put(join(second, 'zarr.json'), { zarr_format: 3, node_type: 'group', attributes: { ome: { omero } } });
    const labels = { ome: { labels: ['nuclei', 'cells'] } };
    put(join(second, 'labels/zarr.json'), { zarr_format: 3, node_type: 'group', attributes: labels });
    const { status, body } = await contentsOf(await datasetOf([{ path: first }, { path: second }]));
    expect(status).toBe(200);
    expect(body).toEqual({
      num_images: 2,
      channels: [dapi, channel('GFP', null), channel(null, 'A02_C02')],
      labels: ['nuclei', 'cells'],
      tables: [{ name: 'FOV_ROI_table', type: 'roi_table' }],
      problem: null,
    });
  });

  it('are found in images that only a later task has made, and cost the same for a long list', async () => {
    const base = await datasetOf([]);
    const dataset = Number(base.split('/').at(-1));
    writeContents(place('contents/long/999'), [], ['late']);
    await service.database.db
      .insertInto('images')
      .values(
        Array.from({ length: 1000 }, (_, at) => ({
          dataset_id: dataset,
          // a list from which some were removed
          position: at * at,
          zarr_url: place(`contents/long/${at}`),
          origin: null,
          attributes: '{}',
          types: '{}',
        })),
      )
      .execute();
    const { body } = await contentsOf(base);
    expect(body).toMatchObject({ num_images: 1, labels: ['late'] });
    expect(body.problem).toContain(`There is no image at ${place('contents/long/0')}`);
  });

  it('are nothing where there are no images, and a refusal where none may be read', async () => {
    const empty = await contentsOf(await datasetOf([]));
    expect([empty.status, empty.body]).toEqual([
      200,
      { num_images: 0, channels: [], labels: [], tables: [], problem: null },
    ]);
    const statuses = [];
    for (const path of [join(root, 'elsewhere/image'), 's3://bucket/image']) {
      statuses.push((await contentsOf(await datasetOf([{ path }]))).status);
    }
    expect(statuses).toEqual([403, 422]);
  });

  it('are bounded, and what lies outside or is no name is left out', async () => {
    const names = Array.from({ length: 5000 }, (_, at) => `n${at}`);
    const odd = ['../../secret', '', 7, null, 'x'.repeat(1000), 'a/b'];
    const image = writeContents(
      place('contents/odd'),
      names.map((name) => channel(name, { a: 1 })),
      [...odd, ...names],
    );
    put(join(image, 'tables/.zattrs'), { tables: [...odd, 'linked', 'cut', ...names] });
    mkdirSync(join(image, 'tables/linked'), { recursive: true });
    writeFileSync(join(root, 'secret.json'), JSON.stringify({ type: 'secret' }));
    symlinkSync(join(root, 'secret.json'), join(image, 'tables/linked/.zattrs'));
    put(join(image, 'tables/cut/.zattrs'), '{"type": "roi_');
    const { status, body } = await contentsOf(await datasetOf([{ path: image }]));
    expect(status).toBe(200);
    expect([body.channels.length, body.labels.length <= 200, body.tables.length]).toEqual([200, true, 200]);
    expect(body.channels[0]).toEqual(channel('n0', null));
    expect(body.labels[0]).toBe('n0');
    expect(body.tables.slice(0, 3)).toEqual([
      { name: 'linked', type: null },
      { name: 'cut', type: null },
      { name: 'n0', type: null },
    ]);
  });

  it('say why an image tells nothing', async () => {
    const image = place('contents/damaged');
    put(join(image, '.zattrs'), '{"omero": ');
    const { body } = await contentsOf(await datasetOf([{ path: image }]));
    expect(body).toMatchObject({ num_images: 0, channels: [], labels: [], tables: [] });
    expect(body.problem).toContain('is damaged');
  });
});

describe('a page of rows', () => {
  it('joins the attributes of the images, and names columns that some lack', async () => {
    const { base, images } = await twoWells('joined');
    const { status, body } = await tableOf(base);
    expect(status).toBe(200);
    expect(body.columns.map(({ name, source }: { name: string; source: string }) => `${source} ${name}`)).toEqual(
      [
        ...['zarr_url', 'well', 'dose', 'plate', 'treatment'].map((name) => `image ${name}`),
        ...['label', 'area', 'mean', 'class'].map((name) => `table ${name}`),
      ].sort((a, b) => order(body, a) - order(body, b)),
    );
    const row = (at: number) =>
      Object.fromEntries(body.columns.map((c: { name: string }, i: number) => [c.name, body.items[at][i]]));
    expect(body.total_count).toBe(5);
    expect(row(2)).toEqual({
      zarr_url: images[0],
      plate: 'joined',
      well: 'B03',
      dose: 1.5,
      treatment: null,
      label: 3,
      area: null,
      mean: 2.5,
      class: null,
    });
    expect(row(4)).toMatchObject({
      zarr_url: images[1],
      treatment: 'KIF11',
      dose: null,
      label: 2,
      area: 40,
      mean: null,
      class: '=1+1',
    });
    expect(body.problems.map(({ kind }: { kind: string }) => kind)).toEqual(['other_columns', 'other_columns']);
  });
  const order = (body: { columns: { name: string; source: string }[] }, text: string) =>
    body.columns.findIndex(({ name, source }) => `${source} ${name}` === text);

  const labelsOf = (body: { columns: { name: string }[]; items: unknown[][] }) => {
    const [label, url] = ['label', 'zarr_url'].map((name) => body.columns.findIndex((column) => column.name === name));
    return body.items.map((item) => `${String(item[url!]).split('/').at(-3)}${String(item[label!])}`);
  };

  it('is one of several, in any order, with what is missing last', async () => {
    const { base } = await twoWells('sorted');
    const sorted = async (query: Query) => labelsOf((await tableOf(base, query)).body);
    expect(await sorted({ page_size: 2, page: 2 })).toEqual(['B3', 'C1']);
    expect(await sorted({ page_size: 2, page: 9 })).toEqual([]);
    expect(await sorted({ sort: 'area' })).toEqual(['B1', 'B2', 'C1', 'C2', 'B3']);
    expect(await sorted({ sort: '-area' })).toEqual(['C2', 'C1', 'B2', 'B1', 'B3']);
    expect(await sorted({ sort: '-well' })).toEqual(['C1', 'C2', 'B1', 'B2', 'B3']);
    expect(await sorted({ sort: 'class' })).toEqual(['C2', 'C1', 'B1', 'B2', 'B3']);
    for (const query of [{ page: 0 }, { page_size: 0 }, { page_size: 10_001 }] as Query[])
      expect((await tableOf(base, query)).status).toBe(422);
  });

  it('holds the rows that pass conditions on columns and attributes', async () => {
    const { base, images } = await twoWells('filtered');
    const found = async (body: object) => {
      const answer = await anna.client.post(`${base}/tables/nuclei/query/`, body);
      return [answer.status, answer.status === 200 ? labelsOf(answer.body) : answer.text];
    };
    expect(await found({ ranges: [{ column: 'area', from: 20, to: 30 }] })).toEqual([200, ['B2', 'C1']]);
    expect(await found({ ranges: [{ column: 'dose', from: 1 }] })).toEqual([200, ['B1', 'B2', 'B3']]);
    expect(await found({ values: [{ column: 'class', values: ['mitotic'] }] })).toEqual([200, ['C1']]);
    expect(await found({ values: [{ column: 'well', values: ['C04'] }] })).toEqual([200, ['C1', 'C2']]);
    expect(await found({ attribute_filters: { well: ['B03'] } })).toEqual([200, ['B1', 'B2', 'B3']]);
    expect(await found({ zarr_urls: [images[1]] })).toEqual([200, ['C1', 'C2']]);
    const objects = [{ zarr_url: images[0], labels: [3, 1] }];
    expect(await found({ objects })).toEqual([200, ['B1', 'B3']]);
    expect(await found({ ranges: [{ column: 'area' }] })).toEqual([422, expect.any(String)]);
    expect(await found({ columns: ['nothing'] })).toEqual([422, expect.stringContaining('no column nothing')]);
  });

  it('shows what tasks made last, what they made it from, or all', async () => {
    const [first, second] = [place('gen/a'), place('gen/b')];
    writeAnnData(first, [1], { area: [1] });
    writeAnnData(second, [2], { area: [2] });
    const base = await datasetOf([{ path: first }, { path: second, origin: first }]);
    const count = async (images: string) => (await tableOf(base, { images })).body.total_count;
    expect([await count('newest'), await count('original'), await count('all')]).toEqual([1, 1, 2]);
  });

  it('has what condition tables of the image and its plate say', async () => {
    const images = ['B/03/0', 'C/04/0'].map((well) => place('treated.zarr', well));
    for (const image of images) writeAnnData(image, [1], { area: [1] });
    writeCsv(place('treated.zarr'), 'row,column,drug,dose\nB,3,dmso,0\nC,4,taxol,1.5\n', {
      name: 'drugs',
      attributes: { type: 'condition_table', index_key: undefined },
    });
    writeCsv(images[1]!, 'line\nHeLa\n', {
      name: 'cells',
      names: ['nuclei', 'cells'],
      attributes: { type: 'condition_table', index_key: undefined },
    });
    const base = await datasetOf(images.map((path) => ({ path, attributes: { plate: 'treated' } })));
    const { body } = await anna.client.get(`${base}/tables/nuclei/groups/`, { query: { by: 'drug', column: 'area' } });
    expect(body.groups.map(({ values }: { values: unknown[] }) => values)).toEqual([['dmso'], ['taxol']]);
    const rows = (await tableOf(base)).body;
    const line = rows.columns.findIndex(({ name }: { name: string }) => name === 'line');
    expect(rows.items.map((item: unknown[]) => item[line])).toEqual([null, 'HeLa']);
    const ofPlate = await tableOf(base, { level: 'plate' }, anna.client, 'drugs');
    expect([ofPlate.body.total_count, ofPlate.body.items[0].slice(-2)]).toEqual([2, ['dmso', 0]]);
  });
});

describe('other forms', () => {
  it('are typed arrays for plots', async () => {
    const { base, images } = await twoWells('plots');
    const response = await raw(`${base}/tables/nuclei/?format=columns&column=area&column=class`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
    const { header, arrays } = readColumns(await response.arrayBuffer());
    expect(header).toMatchObject({
      rows: 5,
      index: 'label',
      images: [
        { zarr_url: images[0], rows: 3, attributes: { well: 'B03' } },
        { zarr_url: images[1], rows: 2 },
      ],
    });
    expect([...arrays.get('label')!]).toEqual([1, 2, 3, 1, 2]);
    expect([...arrays.get('area')!]).toEqual([10, 20, NaN, 30, 40]);
    expect(arrays.get('area')).toBeInstanceOf(Float64Array);
    const texts = header.columns.find(({ name }) => name === 'class')!.texts!;
    expect(Array.from(arrays.get('class')!, (code) => texts[code])).toEqual([
      undefined,
      undefined,
      undefined,
      'mitotic',
      '=1+1',
    ]);
    const single = await raw(`${base}/tables/nuclei/?format=columns&column=area&precision=single`);
    expect(readColumns(await single.arrayBuffer()).arrays.get('area')).toBeInstanceOf(Float32Array);
  });

  it('are CSV that no spreadsheet takes for formulas', async () => {
    const { base } = await twoWells('csv');
    const response = await raw(`${base}/tables/nuclei/?format=csv&column=label&column=area&column=class`);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="\d+_nuclei\.csv"$/);
    const lines = (await response.text()).trimEnd().split('\r\n');
    expect(lines).toHaveLength(6);
    expect(lines[3]!.endsWith(',3,,')).toBe(true);
    expect(lines[5]!.endsWith(",2,40,'=1+1")).toBe(true);
  });

  it('are Parquet with the types of the columns', async () => {
    const { base } = await twoWells('parquet');
    const response = await raw(`${base}/tables/nuclei/?format=parquet`);
    const rows = await parquetReadObjects({ file: await response.arrayBuffer() });
    expect(rows).toHaveLength(5);
    expect(rows[2]).toMatchObject({ well: 'B03', dose: 1.5, label: 3n, area: NaN, mean: 2.5, class: null });
    expect(rows[4]).toMatchObject({ well: 'C04', treatment: 'KIF11', label: 2n, area: 40, class: '=1+1' });
  });

  it('are statistics of wells, which leave out what is missing', async () => {
    const { base } = await twoWells('wells');
    const { body } = await anna.client.get(`${base}/tables/nuclei/groups/`, { query: { column: 'area' } });
    expect(body.by).toEqual(['plate', 'well']);
    expect(
      body.groups.map(({ values, num_rows }: { values: unknown[]; num_rows: number }) => [...values, num_rows]),
    ).toEqual([
      ['wells', 'B03', 3],
      ['wells', 'C04', 2],
    ]);
    expect(body.groups[0].columns[0]).toEqual({
      name: 'area',
      count: 2,
      num_missing: 1,
      mean: 15,
      median: 15,
      std: Math.sqrt(50),
      min: 10,
      max: 20,
      q1: 12.5,
      q3: 17.5,
    });
    const byClass = await anna.client.get(`${base}/tables/nuclei/groups/`, { query: { column: 'area', by: 'class' } });
    expect(byClass.body.groups.map(({ values }: { values: unknown[] }) => values)).toEqual([
      [null],
      ['mitotic'],
      ['=1+1'],
    ]);
    for (const query of [{ column: 'class' }, { column: 'nothing' }, { by: 'nothing' }] as Query[])
      expect((await anna.client.get(`${base}/tables/nuclei/groups/`, { query })).status).toBe(422);
  });

  it('can be kept by the client until a file is written again', async () => {
    const image = place('kept');
    writeCsv(image, 'label,area\n1,2\n');
    const base = await one(image);
    const first = await raw(`${base}/tables/nuclei/`);
    const etag = first.headers.get('etag')!;
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    const again = await raw(`${base}/tables/nuclei/`, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    writeCsv(image, 'label,area\n1,3\n');
    await expect
      .poll(async () => (await raw(`${base}/tables/nuclei/`, { headers: { 'if-none-match': etag } })).status, {
        timeout: 20_000,
      })
      .toBe(200);
  });
});

describe('tables of every kind', () => {
  const values = async (image: string, name: string) => {
    const { status, body, text } = await tableOf(await one(image));
    expect([status, text]).toEqual([200, text]);
    const at = body.columns.findIndex((column: { name: string }) => column.name === name);
    return [body.columns[at]?.type, body.items.map((item: unknown[]) => item[at])];
  };

  it('have the types that CSV suggests', async () => {
    const text =
      'label,whole,half,flag,text,mixed,none,long,odd\n1,1,1.5,true,None,1,,12345678901234567890,inf\n2,,nan,False,"b, ""c""",x,NaN,1,-inf\n';
    const image = place('csv-types');
    writeCsv(image, text);
    expect(await values(image, 'label')).toEqual(['integer', [1, 2]]);
    expect(await values(image, 'whole')).toEqual(['integer', [1, null]]);
    expect(await values(image, 'half')).toEqual(['number', [1.5, null]]);
    expect(await values(image, 'flag')).toEqual(['boolean', [true, false]]);
    expect(await values(image, 'text')).toEqual(['text', ['None', 'b, "c"']]);
    expect(await values(image, 'mixed')).toEqual(['text', ['1', 'x']]);
    expect(await values(image, 'none')).toEqual(['number', [null, null]]);
    expect(await values(image, 'long')).toEqual(['text', ['12345678901234567890', '1']]);
    expect(await values(image, 'odd')).toEqual(['number', ['Infinity', '-Infinity']]);
  });

  it('are texts where a cell says what every object has', async () => {
    const image = place('csv-inherited');
    writeCsv(image, 'label,name,other\n1,constructor,__proto__\n2,constructor,true\n');
    expect(await values(image, 'name')).toEqual(['text', ['constructor', 'constructor']]);
    expect(await values(image, 'other')).toEqual(['text', ['__proto__', 'true']]);
  });

  it('have the numbers that Python writes as JSON', async () => {
    const image = place('json-types');
    writeJson(image, '{"label": [1, 2], "area": [NaN, -Infinity], "name": ["NaN", null], "ok": [true, false]}');
    expect(await values(image, 'area')).toEqual(['number', [null, '-Infinity']]);
    expect(await values(image, 'name')).toEqual(['text', ['NaN', null]]);
    expect(await values(image, 'ok')).toEqual(['boolean', [true, false]]);
  });

  it('may be empty', async () => {
    const images = [place('empty/csv'), place('empty/anndata'), place('empty/json')];
    writeCsv(images[0]!, 'label,area\n');
    writeAnnData(images[1]!, [], { area: [] });
    writeJson(images[2]!, '{"label": [], "area": []}');
    for (const image of images) {
      const base = await one(image);
      const { status, body } = await tableOf(base);
      expect([status, body.total_count, body.items]).toEqual([200, 0, []]);
      for (const format of ['csv', 'parquet', 'columns'])
        expect((await raw(`${base}/tables/nuclei/?format=${format}`)).status).toBe(200);
    }
  });

  it('with a label twice are shown, and that is said', async () => {
    const image = place('twice');
    writeAnnData(image, [1, 2, 2], { area: [1, 2, 3] });
    const response = await raw(`${await one(image)}/tables/nuclei/?format=columns`);
    const { header } = readColumns(await response.arrayBuffer());
    expect([header.rows, header.problems[0]?.kind]).toEqual([3, 'duplicate_labels']);
  });

  it('with texts in one image and numbers in the other become texts', async () => {
    const images = [place('mixed/a'), place('mixed/b')];
    writeCsv(images[0]!, 'label,class\n1,7\n');
    writeCsv(images[1]!, 'label,class\n1,x\n');
    const base = await datasetOf(images.map((path) => ({ path })));
    const columns = readColumns(await (await raw(`${base}/tables/nuclei/?format=columns`)).arrayBuffer());
    const { texts } = columns.header.columns.find(({ name }) => name === 'class')!;
    expect(Array.from(columns.arrays.get('class')!, (code) => texts![code])).toEqual(['7', 'x']);
    const rows = await parquetReadObjects({
      file: await (await raw(`${base}/tables/nuclei/?format=parquet`)).arrayBuffer(),
    });
    expect(rows.map(({ class: text }) => text as string)).toEqual(['7', 'x']);
  });
});

describe('bad tables', () => {
  const attributesOf = (path: string, attributes: object) =>
    put(join(path, '.zattrs'), attributes as Record<string, unknown>);
  const BAD: [string, RegExp, (image: string) => void][] = [
    ['metadata that is no JSON', /damaged/, (image) => put(join(writeAnnData(image, [1], { a: [1] }), '.zattrs'), '{')],
    ['an unknown backend', /stored as arrow/, (image) => writeCsv(image, '', { attributes: { backend: 'arrow' } })],
    ['a shape of 10¹² rows', /rows/, (image) => writeNumbersOf(image, [1e12], [1e12])],
    ['a shape of 10¹² rows in small chunks', /chunks/, (image) => writeNumbersOf(image, [1e12], [1])],
    ['a negative shape', /damaged/, (image) => writeNumbersOf(image, [-5], [1])],
    ['a shape that is no list', /damaged|cannot be read/, (image) => writeNumbersOf(image, 'x' as never, [1])],
    [
      'an index that leads elsewhere',
      /no usable name/,
      (image) => {
        const path = writeAnnData(image, [1], { a: [1] });
        attributesOf(join(path, 'obs'), { _index: '../../../../secret', 'column-order': [] });
      },
    ],
    [
      'a column that leads elsewhere',
      /no list of names/,
      (image) => {
        const path = writeAnnData(image, [1], { a: [1] });
        attributesOf(join(path, 'obs'), { _index: 'label', 'column-order': ['..', 'x/../../y'] });
      },
    ],
    [
      'columns that are their own categories',
      /damaged|missing|cannot/,
      (image) => {
        const path = writeAnnData(image, [1], { a: [1] });
        attributesOf(join(path, 'obs'), { _index: 'label', 'column-order': ['c'] });
        attributesOf(join(path, 'obs/c'), { 'encoding-type': 'categorical' });
        attributesOf(join(path, 'obs/c/categories'), { 'encoding-type': 'categorical' });
        symlinkSync('..', join(path, 'obs/c/categories/categories'));
        symlinkSync('..', join(path, 'obs/c/categories/codes'));
        symlinkSync('.', join(path, 'obs/c/codes'));
      },
    ],
    [
      'half a million columns',
      /more than 10000 columns/,
      (image) => {
        const path = writeAnnData(image, [1], { a: [1] });
        const order = Array.from({ length: 500_000 }, (_, at) => `c${at}`);
        attributesOf(join(path, 'obs'), { _index: 'label', 'column-order': order });
      },
    ],
    [
      'X of another size',
      /X is 3 x 1/,
      (image) => {
        const path = writeAnnData(image, [1], { a: [1] });
        writeNumbers(join(path, 'X'), [1, 2, 3], [3, 1]);
      },
    ],
    [
      'a cut off chunk',
      /damaged/,
      (image) => put(join(writeAnnData(image, [1], { a: [1] }), 'X/0.0'), Buffer.alloc(3)),
    ],
    [
      'texts that say they are longer',
      /damaged/,
      (image) => {
        const bytes = textChunk(['1']);
        bytes.writeUInt32LE(2 ** 31, 4);
        put(join(writeAnnData(image, [1], { a: [1] }), 'obs/label/0'), bytes);
      },
    ],
    [
      'a bomb in a chunk',
      /more than its chunk holds/,
      (image) => {
        const path = writeAnnData(image, [1], { a: [1] });
        put(
          join(path, 'X/.zarray'),
          arrayOf([1, 1], [1, 1], { dtype: '<f8', compressor: { id: 'gzip' }, dimension_separator: '.' }),
        );
        put(join(path, 'X/0.0'), gzipSync(Buffer.alloc(64 * 2 ** 20)));
      },
    ],
    ['a sparse matrix with an index outside', /outside of its shape/, (image) => sparse(image, [0, 7], [0, 1, 2])],
    ['a sparse matrix with wrong starts', /indptr/, (image) => sparse(image, [0, 0], [0, 9, 2])],
    ['Parquet that is none', /no Parquet file/, (image) => parquet(image, Buffer.from('hello world, no table at all'))],
    ['Parquet of nothing', /no Parquet file/, (image) => parquet(image, Buffer.alloc(0))],
    [
      'Parquet that is cut off',
      /no Parquet file/,
      (image) => {
        const path = writeParquet(image, [{ name: 'label', data: [1n, 2n], type: 'INT64' }]);
        truncateSync(join(path, 'table.parquet'), 40);
      },
    ],
    [
      'Parquet with metadata of 4 GB',
      /no Parquet file/,
      (image) => {
        const end = Buffer.from('\xff\xff\xff\xffPAR1', 'latin1');
        parquet(image, Buffer.concat([Buffer.alloc(1000), end]));
      },
    ],
    ['CSV with torn quotes', /damaged/, (image) => writeCsv(image, 'label,a\n1,"x\n')],
    ['CSV with lines of other lengths', /damaged/, (image) => writeCsv(image, 'label,a\n1\n')],
    ['CSV with a line of 3 MB', /damaged/, (image) => writeCsv(image, `label,a\n1,${'x'.repeat(3e6)}\n`)],
    ['CSV with a name twice', /same name/, (image) => writeCsv(image, 'label,label\n1,1\n')],
    ['CSV of nothing', /empty/, (image) => writeCsv(image, '')],
    [
      'a CSV file of a terabyte',
      /too large/,
      (image) => {
        const path = writeCsv(image, 'label\n1\n');
        truncateSync(join(path, 'table.csv'), 2 ** 40);
      },
    ],
    [
      'a folder for a file',
      /folder where a file should be/,
      (image) => {
        const path = writeCsv(image, 'x');
        rmSync(join(path, 'table.csv'));
        mkdirSync(join(path, 'table.csv'));
      },
    ],
    ['JSON with a column that is none', /no column/, (image) => writeJson(image, '{"label": [1], "a": 7}')],
    ['JSON with columns of other lengths', /should have 1/, (image) => writeJson(image, '{"label": [1], "a": [1, 2]}')],
    ['JSON that is a list', /no JSON object/, (image) => writeJson(image, '[1, 2]')],
  ];

  function writeNumbersOf(image: string, shape: number[], chunks: number[]): void {
    const path = writeAnnData(image, [1], { a: [1] });
    put(join(path, 'obs/label/.zarray'), arrayOf(shape, chunks, { dtype: '<f8', dimension_separator: '.' }));
  }

  function sparse(image: string, indices: number[], starts: number[]): void {
    const path = writeAnnData(image, [1, 2], { a: [1, 2] });
    rmSync(join(path, 'X'), { recursive: true });
    put(join(path, 'X/.zgroup'), { zarr_format: 2 });
    attributesOf(join(path, 'X'), { 'encoding-type': 'csr_matrix', shape: [2, 1] });
    writeNumbers(join(path, 'X/data'), [1, 2]);
    writeNumbers(join(path, 'X/indices'), indices);
    writeNumbers(join(path, 'X/indptr'), starts);
  }

  const parquet = (image: string, bytes: Buffer) => {
    const path = writeParquet(image, [{ name: 'label', data: [1n], type: 'INT64' }]);
    put(join(path, 'table.parquet'), bytes);
  };

  it.each(BAD)('with %s are named, and the others are shown', async (name, reason, write) => {
    const bad = place('bad', name.replace(/\W/g, '_'));
    const good = place('bad/good');
    write(bad);
    writeAnnData(good, [1, 2], { a: [1, 2] });
    const base = await datasetOf([{ path: bad }, { path: good }]);
    const { status, body, text } = await tableOf(base);
    expect([status, text]).toEqual([200, text]);
    expect(body.total_count).toBe(2);
    expect(body.problems).toHaveLength(1);
    expect(body.problems[0]).toMatchObject({ zarr_url: bad, kind: 'unreadable', text: expect.stringMatching(reason) });
    const alone = await tableOf(await one(bad));
    expect([alone.status, alone.text]).toEqual([422, expect.stringMatching(reason)]);
    expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('that an image lacks are named', async () => {
    const images = [place('lacks/a'), place('lacks/b')];
    writeAnnData(images[0]!, [1], { a: [1] });
    put(join(images[1]!, '.zattrs'), {});
    const { body } = await tableOf(await datasetOf([...images, place('lacks/c')].map((path) => ({ path }))));
    expect(body.problems.map(({ kind }: { kind: string }) => kind).sort()).toEqual(['no_image', 'no_table']);
  });

  it.each(['%2e%2e%2f', 'a%2Fb', '..%2F..%2Fsecret', 'a%5Cb', 'a%00b'])(
    'are not asked for by the name %s',
    async (name) => {
      const { base } = await twoWells('names');
      expect([400, 404, 422]).toContain((await raw(`${base}/tables/${name}/?page_size=1`)).status);
      expect([400, 404, 422]).toContain((await raw(`${base}/tables/${name}/groups/`)).status);
    },
  );
});

describe('large tables', () => {
  it('that ask for too much are refused while others get theirs', async () => {
    const images = Array.from({ length: 12 }, (_, at) => place(`large/${at}`));
    const rows = 200_000;
    const names = Array.from({ length: 10 }, (_, at) => `f${at}`);
    const numbers = Buffer.from(new Float64Array(rows * names.length).fill(1.5).buffer);
    for (const image of images) {
      const path = writeAnnData(
        image,
        Array.from({ length: rows }, (_, at) => at + 1),
        {},
      );
      const { textsOf } = { textsOf: textChunk(names) };
      put(
        join(path, 'var/_index/.zarray'),
        arrayOf([names.length], [names.length], {
          dtype: '|O',
          fill_value: '',
          filters: [{ id: 'vlen-utf8' }],
          dimension_separator: '.',
        }),
      );
      put(join(path, 'var/_index/0'), textsOf);
      put(
        join(path, 'X/.zarray'),
        arrayOf([rows, names.length], [rows, names.length], { dtype: '<f8', dimension_separator: '.' }),
      );
      put(join(path, 'X/0.0'), numbers);
    }
    const base = await datasetOf(images.map((path) => ({ path })));
    const small = await twoWells('beside');
    const [large, ...others] = await Promise.all([
      raw(`${base}/tables/nuclei/?format=columns`),
      ...Array.from({ length: 5 }, (_, at) => tableOf(small.base, { page_size: at + 1 })),
    ]);
    expect([large.status, await large.text()]).toEqual([422, expect.stringMatching(/fewer columns|more memory/)]);
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));
    const groups = await anna.client.get(`${base}/tables/nuclei/groups/`, { query: { column: 'f3' } });
    expect([groups.status, groups.text]).toEqual([200, groups.text]);
    expect(groups.body.groups[0].columns[0]).toMatchObject({ count: 12 * rows, mean: 1.5 });
    // half of the room on disk is the most that one export takes
    const csv = await raw(`${base}/tables/nuclei/?format=csv`);
    expect([csv.status, await csv.text()]).toEqual([422, expect.stringContaining('file of more than 32 MiB')]);
  }, 300_000);

  it('that nobody waits for leave nothing behind', async () => {
    const image = place('left');
    const lines = Array.from({ length: 200_000 }, (_, at) => `${at},${at / 7}`);
    writeCsv(image, `label,area\n${lines.join('\n')}\n`);
    const base = await one(image);
    const gone = new AbortController();
    const asked = raw(`${base}/tables/nuclei/?format=csv`, { signal: gone.signal });
    setTimeout(() => gone.abort(), 150);
    await expect(asked).rejects.toThrow();
    const drafts = () =>
      readdirSync(join(root, 'data/tables'), { recursive: true }).filter((name) => String(name).endsWith('.draft'));
    await expect.poll(drafts, { timeout: 20_000 }).toEqual([]);
    const whole = await raw(`${base}/tables/nuclei/?format=csv`);
    expect((await whole.text()).split('\r\n')).toHaveLength(200_002);
  }, 120_000);
});
