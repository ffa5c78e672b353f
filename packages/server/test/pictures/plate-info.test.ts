/** What is told about a plate: bounded whatever its files say, and complete for the largest plates there are. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { LONG } from '../support/long.ts';
import { arrayOf, multiscales, put, writeImage } from '../support/ome-zarr.ts';
import { addDataset } from '../support/people.ts';
import { addPerson, addProfile, addProject, type Person } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';

const root = mkdtempSync(join(tmpdir(), 'service-plate-info-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Thousands of images are read by a process that lets everybody else go first. */
const PATIENT = { timeout: 240_000 };

const place = (...parts: string[]) => join(root, 'anna', ...parts);

let service: TestService;
let anna: Person;
let dataset: number;
let base: string;
beforeAll(async () => {
  service = await startService({ settings: { SERVICE_DATA_DIR: join(root, 'data') } });
  mkdirSync(place(), { recursive: true });
  anna = await addPerson(service, await addProfile(service), { project_dirs: [place()] });
  const project = await addProject(service, anna, 'p');
  dataset = await addDataset(service, project, { zarr_dir: place() });
  base = `/api/v2/project/${project}/dataset/${dataset}`;
});

interface InPlate {
  path: string;
  well: string;
}

/** Adds images of a plate to the dataset, whatever is on disk. */
async function list(plate: string, images: InPlate[]): Promise<void> {
  await sql`
    insert into images (dataset_id, position, zarr_url, origin, attributes, types)
    select ${dataset}, ${listed} + at, path, null, jsonb_build_object('plate', ${plate}::text, 'well', well), '{}'
    from jsonb_to_recordset(${JSON.stringify(images.map((image, at) => ({ ...image, at })))}::jsonb)
      as image (path text, well text, at int)`.execute(service.database.db);
  listed += images.length;
}
let listed = 0;

const infoOf = (plate: string) => anna.client.get(`${base}/plate-picture/info/`, { query: { plate } });

const rowName = (row: number) =>
  (row < 26 ? '' : String.fromCharCode(64 + Math.floor(row / 26))) + String.fromCharCode(65 + (row % 26));

describe('metadata that says too much', () => {
  it('of channels is told for a thousand of them, with short names', async () => {
    const path = place('channels.zarr/A/1/0');
    const names = Array.from({ length: 3000 }, (_, at) => ({
      label: at === 1 ? 'x'.repeat(2 ** 20) : `c${at}`,
      window: { start: 0, end: 1000 },
    }));
    put(join(path, '.zattrs'), { ...multiscales('cyx'), omero: { channels: names } });
    put(join(path, '0/.zarray'), arrayOf([2_000_000, 8, 8], [1, 8, 8]));
    await list('channels.zarr', [{ path, well: 'A1' }]);
    const { status, body } = await infoOf('channels.zarr');
    expect([status, body.channels.length, body.channels[2].name]).toEqual([200, 1000, 'c2']);
    expect(body.channels[1].name).toBe('x'.repeat(200));
  });

  it('of label images is told for two hundred of them, by names that are some', async () => {
    const path = writeImage(place('labels.zarr/A/1/0'));
    const odd = ['x'.repeat(201), '../other', '..', 'a\u0000'];
    const labels = [...odd, ...Array.from({ length: 5000 }, (_, at) => `label ${at}`)];
    put(join(path, 'labels/.zattrs'), { labels });
    await list('labels.zarr', [{ path, well: 'A1' }]);
    const { status, body } = await infoOf('labels.zarr');
    expect([status, body.labels.length, body.labels[0]]).toEqual([200, 200, 'label 0']);
  });

  it('of a damaged image is cut where its problem is told', async () => {
    const path = place('levels.zarr/A/1/0');
    put(join(path, '.zattrs'), multiscales('cyx', ['x'.repeat(2 ** 20)]));
    await list('levels.zarr', [{ path, well: 'A1' }]);
    const [well] = (await infoOf('levels.zarr')).body.wells;
    expect([well.name, well.fields]).toEqual(['A1', []]);
    expect(well.problem).toContain(path);
    expect(well.problem.length).toBeLessThan(10_000);
  });

  it('altogether is refused with what can be done', PATIENT, async () => {
    const long = place('x'.repeat(4500));
    const wells = Array.from({ length: 4000 }, (_, at) => `${rowName(Math.floor(at / 100))}${1 + (at % 100)}`);
    await list(
      'long.zarr',
      wells.map((well) => ({ path: `${long}/${well}`, well })),
    );
    const { status, body } = await infoOf('long.zarr');
    expect([status, body.detail]).toEqual([422, expect.stringMatching(/more than 16 MiB.*with fewer images/)]);
    const tile = await anna.client.get(`${base}/plate-picture/`, { query: { plate: 'long.zarr', level: 0 } });
    expect(tile.status).toBe(422);
  });
});

describe('a large plate', () => {
  it.each([
    ['1536 wells', 32, 48, 1],
    ['384 wells of many fields', 16, 24, LONG ? 30 : 4],
  ])('of %s is told about with every field', PATIENT, async (name, rows, columns, fields) => {
    const plate = `${name.replaceAll(' ', '-')}.zarr`;
    const image = writeImage(place(plate, 'image'), { channels: 3 });
    const images: InPlate[] = [];
    for (let row = 0; row < rows; row++) {
      for (let column = 1; column <= columns; column++) {
        const folder = place(plate, rowName(row), String(column));
        mkdirSync(folder, { recursive: true });
        for (let field = 0; field < fields; field++) {
          symlinkSync(image, join(folder, String(field)));
          images.push({ path: join(folder, String(field)), well: `${rowName(row)}${column}` });
        }
      }
    }
    await list(plate, images);
    const { status, body } = await infoOf(plate);
    expect([status, body.rows.length, body.columns.length]).toEqual([200, rows, columns]);
    expect(body.channels.length).toBe(3);
    type Told = { name: string; state: string; zarr_urls: string[]; fields: { zarr_url: string; x: number }[] };
    const wells = body.wells as Told[];
    expect(wells.flatMap(({ zarr_urls }) => zarr_urls).sort()).toEqual(images.map(({ path }) => path).sort());
    for (const well of wells) {
      expect(well.state).toBe('ready');
      expect(well.fields.map(({ zarr_url }) => zarr_url)).toEqual(well.zarr_urls);
    }
    const width = Number((1 / Math.ceil(Math.sqrt(fields))).toPrecision(6));
    expect(wells[0]!.fields[0]).toMatchObject({ zarr_url: images[0]!.path, x: 0, width });
  });
});
