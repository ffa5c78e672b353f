/**
 * A real task package over a real plate: imported, projected, segmented and measured. In long runs once more without warm
 * start, which must make no difference but in CPU time.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';

import { until } from '../packages/server/test/support/lab.ts';
import { LONG } from '../packages/server/test/support/long.ts';
import { addPerson, addProfile } from '../packages/server/test/support/plates.ts';
import { type Client, clientOf, startService } from '../packages/server/test/support/server.ts';
import { looksWell } from '../packages/web/test/site/looks.ts';
import { launchBrowser } from './support/browser.ts';
import { drawPlate } from './support/demo-plate.ts';
import { PASSWORD, READY, start } from './support/mounted.ts';
import { comparePictures, compareTiles, type PythonReader, readPlate, readSharded } from './support/python-readers.ts';
import { compareTables } from './support/python-tables.ts';
import { remove, temporaryFolder } from './support/processes.ts';

const folder = temporaryFolder('real-run');
afterAll(() => remove(folder));

const PATIENCE_SECONDS = 240;
const WELLS = ['A/01', 'A/02'];

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies of every shape
type Body = any;

interface Unit {
  status: string;
  is_init: boolean;
  zarr_urls: string[];
  exit_code: number;
  num_warnings: number;
  has_warnings: boolean;
  cpu_seconds: number;
  logfile: string;
}

interface Run {
  /** Where its plates are. */
  zarrDir: string;
  /** The address of its dataset. */
  base: string;
  job: Body;
  images: Body[];
  /** Of each task, in the order of the workflow. */
  units: Unit[][];
}

async function openPlace() {
  const service = await startService({
    settings: { SERVICE_DATA_DIR: join(folder, 'data'), SERVICE_DATA_BASE_PATH: '/data/' },
  });
  const profile = await addProfile(service);
  const find = 'import sys; print(sys.executable, "%d.%d" % sys.version_info[:2])';
  const [python, version] = execFileSync('python3', ['-c', find], { encoding: 'utf8' }).trim().split(' ');
  await service.database.db
    .updateTable('resources')
    .set({
      tasks_local_dir: join(folder, 'tasks'),
      jobs_local_dir: join(folder, 'jobs'),
      tasks_python_config: JSON.stringify({
        default_version: version,
        versions: { [version!]: python },
        pip_cache_dir: null,
      }),
    })
    .execute();
  const { client, email } = await addPerson(service, profile, { project_dirs: [folder] });
  return { client, url: service.url, token: await service.login(email, 'some-password') };
}

/** What came, if it is what was hoped for. */
async function made(answer: Promise<{ status: number; text: string; body: Body }>, status = 201): Promise<Body> {
  const { status: got, text, body } = await answer;
  expect([got, text]).toEqual([status, text]);
  return body;
}

async function collect(client: Client): Promise<Body> {
  const body = new URLSearchParams({ package: 'fractal-tasks-core' });
  const asked = await made(client.raw('/api/v2/task/collect/pip/', { method: 'POST', body }), 202);
  const { status, log } = await until(
    'the end of the collection',
    async () => {
      const { body: now } = await client.get(`/api/v2/task-group/activity/${asked.id}/`);
      return ['OK', 'failed'].includes(now.status) && now;
    },
    PATIENCE_SECONDS,
  );
  expect([status, log]).toEqual(['OK', log]);
  return (await client.get(`/api/v2/task-group/${asked.taskgroupv2_id}/`)).body;
}

/** The steps of the analysis; the second segmentation wants a channel that no image has, and warns. */
const STEPS = [
  { task: 'Import OME-Zarr', args_non_parallel: { zarr_name: 'demo.zarr' } },
  { task: 'Project Image (HCS Plate)', args_non_parallel: { method: 'Maximum intensity projection' } },
  {
    task: 'Threshold Segmentation',
    args_parallel: { channel: { mode: 'label', identifier: 'nuclei' }, output_label_name: 'nuclei' },
  },
  {
    task: 'Threshold Segmentation',
    args_parallel: { channel: { mode: 'label', identifier: 'no such channel', skip_if_missing: true } },
  },
  {
    task: 'Measure Features',
    args_parallel: {
      input_label_name: 'nuclei',
      output_table_name: 'nuclei_features',
      features: [{ type: 'ShapeFeatures' }, { type: 'IntensityFeatures' }],
      advanced_options: { table_backend: 'csv' },
    },
  },
];
const [IMPORTED, PROJECTED, SEGMENTED, SKIPPED, MEASURED] = [0, 1, 2, 3, 4];

async function run(client: Client, tasks: Body[], plate: string, warm_start: boolean): Promise<Run> {
  const name = warm_start ? 'warm' : 'cold';
  const zarrDir = join(folder, name);
  cpSync(plate, join(zarrDir, 'demo.zarr'), { recursive: true });
  const project = await made(client.post('/api/v2/project/', { name }));
  const base = `/api/v2/project/${project.id}`;
  const dataset = await made(client.post(`${base}/dataset/`, { name, project_dir: folder, zarr_subfolder: name }));
  const workflow = await made(client.post(`${base}/workflow/`, { name }));
  const steps = STEPS.map(({ task, ...args }) => {
    const { id, type } = tasks.find((one) => one.name === task);
    return { task_id: id, ...args, ...(type === 'converter_non_parallel' ? {} : { meta_parallel: { warm_start } }) };
  });
  const created = await made(client.post(`${base}/workflow/${workflow.id}/wftask/`, steps));
  const query = { workflow_id: workflow.id, dataset_id: dataset.id };
  const { id } = await made(client.post(`${base}/job/submit/`, {}, { query }), 202);
  const job = await until(
    'the end of the job',
    async () => {
      const { body } = await client.get(`${base}/job/${id}/`);
      return body.status !== 'submitted' && body;
    },
    PATIENCE_SECONDS,
  );

  const units: Unit[][] = [];
  for (const { id: workflowtask_id } of created) {
    const of = { dataset_id: dataset.id, workflowtask_id };
    const { body: runs } = await client.get(`${base}/status/run/`, { query: of });
    const page = await client.get(`${base}/status/run/${runs.at(-1)?.id}/units/`, { query: of });
    units.push(page.body.items);
  }
  const { images } = (await client.get(`${base}/dataset/${dataset.id}/export/`)).body;
  return { zarrDir, base: `${base}/dataset/${dataset.id}`, job, images, units };
}

/** A table names the axes of a region in another order each time; then they are in the order of the alphabet. */
const inOrder = (table: string) =>
  table.replace(/Roi\(([^)]*)\)/g, (_, axes: string) => `Roi(${axes.split(', ').sort().join(', ')})`);

const contentOf = (file: string) => (file.endsWith('.csv') ? inOrder(readFileSync(file, 'utf8')) : readFileSync(file));

/** Every file below a folder, with what is in it. */
const filesIn = (path: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [relative(path, file), createHash('sha256').update(contentOf(file)).digest('hex')]),
  );

/** What a unit wrote, without the times and the folder of its run. */
const logOf = ({ logfile }: Unit, { zarrDir }: Run) =>
  readFileSync(logfile, 'utf8')
    .replaceAll(zarrDir, '<zarr>')
    .replace(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}/gm, '<time>')
    .replace(/avg time per ROI: [\d.]+ s/g, 'avg time per ROI: <time>');

const cpuOf = (units: Unit[]) => units.reduce((sum, { cpu_seconds }) => sum + cpu_seconds, 0);

const LOOK = `
import json, sys, zarr

def look(image):
    labels = zarr.open_array(image + "/labels/nuclei/0", mode="r")[:]
    shape = zarr.open_array(image + "/0", mode="r").shape
    return {"shape": shape, "labels": int(labels.max()), "pixels": int((labels > 0).sum())}

print(json.dumps([look(image) for image in sys.argv[1:]]))
`;

interface Look {
  shape: number[];
  labels: number;
  /** Of all nuclei together. */
  pixels: number;
}

describe('fractal-tasks-core, from the package index', () => {
  let python: string;
  let warm: Run;
  /** In long runs. */
  let cold: Run | undefined;
  let runs: Run[];
  let reader: PythonReader;
  beforeAll(async () => {
    // so that not every process compiles what it imports
    vi.stubEnv('PYTHONDONTWRITEBYTECODE', undefined);
    const service = await openPlace();
    const { client } = service;
    const group = await collect(client);
    python = join(group.venv_path, 'bin/python');
    reader = { ...service, python, folder: join(folder, 'seen') };
    const [image] = drawPlate(folder, { wells: WELLS.length, size: 128 });
    const plate = image!.slice(0, -'/A/01/0'.length);
    // at the same time: the machine is as busy for the one as for the other
    const all = (LONG ? [true, false] : [true]).map((warm) => run(client, group.task_list, plate, warm));
    runs = await Promise.all(all);
    [warm, cold] = [runs[0]!, runs[1]];
  }, 600_000);

  it('runs to the end', () => {
    for (const { job } of runs) expect(job).toMatchObject({ status: 'done', failure: null });
  });

  it('lists the images of the plate and of its projection', () => {
    for (const { images, zarrDir } of runs) {
      const image = (plate: string, well: string, is_3D: boolean, origin: string | null) => ({
        zarr_url: `${zarrDir}/${plate}/${well}/0`,
        origin,
        attributes: { plate, well: well.replace('/', '') },
        types: { is_3D },
      });
      expect(images).toEqual([
        ...WELLS.map((well) => image('demo.zarr', well, true, null)),
        ...WELLS.map((well) => image('demo_mip.zarr', well, false, `${zarrDir}/demo.zarr/${well}/0`)),
      ]);
    }
  });

  it('tells of every unit which images it had and how it ended', () => {
    for (const { units, zarrDir } of runs) {
      const words = units.map((list) =>
        list.map((unit) => {
          const urls = unit.zarr_urls.map((url) => relative(zarrDir, url));
          return [unit.is_init ? 'init' : 'main', unit.status, unit.exit_code, ...urls].join(' ');
        }),
      );
      const each = (plate: string) => WELLS.map((well) => `main done 0 ${plate}/${well}/0`);
      expect(words).toEqual([
        ['main done 0'],
        [`init done 0 ${WELLS.map((well) => `demo.zarr/${well}/0`).join(' ')}`, ...each('demo_mip.zarr')],
        each('demo_mip.zarr'),
        each('demo_mip.zarr'),
        each('demo_mip.zarr'),
      ]);
    }
  });

  it('counts the warnings in the log of each unit', () => {
    for (const { units } of runs) {
      expect(units[SKIPPED]!.map((unit) => [unit.num_warnings, unit.has_warnings])).toEqual([
        [1, true],
        [1, true],
      ]);
      expect(units[IMPORTED]!.map((unit) => [unit.num_warnings, unit.has_warnings])).toEqual([[0, false]]);
      expect(units[SEGMENTED]!.map((unit) => unit.num_warnings)).toEqual([0, 0]);
    }
  });

  it('leaves nuclei and their features on disk', () => {
    const paths = WELLS.map((well) => join(warm.zarrDir, 'demo_mip.zarr', well, '0'));
    const seen = JSON.parse(execFileSync(python, ['-c', LOOK, ...paths], { encoding: 'utf8' })) as Look[];
    for (const [index, { shape, labels, pixels }] of seen.entries()) {
      expect(shape).toEqual([2, 1, 128, 128]);
      expect(labels).toBeGreaterThan(3);
      expect(pixels).toBeGreaterThan(50 * labels);
      const [header, ...rows] = readFileSync(join(paths[index]!, 'tables/nuclei_features/table.csv'), 'utf8')
        .trim()
        .split('\n');
      expect(header!.split(',')).toEqual(expect.arrayContaining(['"label"', '"area"', '"intensity_mean-nuclei"']));
      expect(rows.length).toBe(labels);
    }
  });

  it.runIf(LONG)('does with warm start what it does without: the same files and logs', () => {
    expect(filesIn(warm.zarrDir)).toEqual(filesIn(cold!.zarrDir));
    const logs = (run: Run) => run.units.map((list) => list.map((unit) => logOf(unit, run)));
    expect(logs(warm)).toEqual(logs(cold!));
  });

  it.runIf(LONG)('takes far less CPU with warm start', () => {
    for (const step of [SEGMENTED, SKIPPED, MEASURED]) {
      expect(cpuOf(warm.units[step]!)).toBeLessThan(cpuOf(cold!.units[step]!) / 2);
    }
    const computed = ({ units }: Run) => cpuOf(units[PROJECTED]!.filter((unit) => !unit.is_init));
    expect(computed(warm)).toBeLessThan(computed(cold!) / 2);
  });

  it('has its plates read through the service by ngio and fsspec, equal to what is on disk', async () => {
    expect(await readPlate(reader, join(warm.zarrDir, 'demo_mip.zarr'))).toEqual({
      images: WELLS.length,
      labels: WELLS.length,
      equal: true,
      ranges: [true, true, true, true, true, false],
    });
  });

  it('has its plates drawn', async () => {
    const { base } = warm;
    const query = { plate: 'demo_mip.zarr', channel: 0, size: 256 };
    const picture = await reader.client.get(`${base}/plate-picture/`, { query });
    expect([picture.status, picture.headers.get('x-picture-bad-wells')]).toEqual([200, '']);
    const info = await made(
      reader.client.get(`${base}/plate-picture/info/`, { query: { plate: 'demo_mip.zarr' } }),
      200,
    );
    expect(info.wells.map(({ name, state }: Body) => `${name} ${state}`)).toEqual(['A01 ready', 'A02 ready']);
    const zarr_url = join(warm.zarrDir, 'demo_mip.zarr/A/01/0');
    const outlined = await reader.client.get(`${base}/picture/`, { query: { zarr_url, labels: 'nuclei' } });
    const plain = await reader.client.get(`${base}/picture/`, { query: { zarr_url } });
    expect([outlined.status, plain.status]).toEqual([200, 200]);
    expect(outlined.headers.get('etag')).not.toBe(plain.headers.get('etag'));
  });

  it('draws images of every kind as numpy would, within one shade of grey', async () => {
    const found = await comparePictures(reader);
    const far = Object.entries(found).flatMap(([image, differences]) =>
      Object.entries(differences)
        .filter(([what, value]) => what !== 'wells' && typeof value === 'number' && !(value <= 1))
        .map(([what, value]) => `${image}: ${what} ${value}`),
    );
    expect(far).toEqual([]);
    expect(Object.keys(found).length).toBeGreaterThan(LONG ? 60 : 30);
    const placed = Object.entries(found).flatMap(([name, { placed: by }]) =>
      by === undefined ? [] : [`${name} ${by}`],
    );
    expect(placed.sort()).toEqual([
      'metadata-2.zarr position',
      'metadata-3.zarr position',
      'nowhere-2.zarr reading_order',
      'nowhere-3.zarr reading_order',
      'table-2.zarr position',
      'table-3.zarr position',
    ]);
    expect(await readSharded(reader, join(reader.folder, 'kinds/sharded-v3'))).toBe(true);

    // the viewer reads the files itself
    const kinds = readdirSync(join(reader.folder, 'kinds')).filter((name) => !/^(yx|zyx)-/.test(name));
    const plates = ['metadata-2.zarr', 'metadata-3.zarr'].map((plate) => `${plate}/A/05/2`);
    const images = [...kinds.map((name) => `kinds/${name}`), ...plates].map((name) => join(reader.folder, name));
    const tiles = await compareTiles(reader, images);
    expect(Object.entries(tiles).filter(([, difference]) => !(difference <= 1))).toEqual([]);
    expect(Object.keys(tiles).length).toBeGreaterThan(LONG ? 50 : 24);
  }, 600_000);

  it('has tables that the service reads as ngio does, value by value, of every kind that ngio writes', async () => {
    const measured = WELLS.map((well) => join(warm.zarrDir, 'demo_mip.zarr', well, '0'));
    const { compared, differing } = await compareTables(reader, measured);
    expect(differing).toEqual({});
    expect(compared).toBeGreaterThan(LONG ? 50 : 20);
  }, 300_000);

  // plates and wells of all kinds are looked at in packages/web/test/site
  it.runIf(LONG)(
    'is looked at on the pages: its plate, its nuclei, and a plate of version 0.5 in shards',
    async () => {
      const { url, token, base } = await openPages({
        // what the job made, and what zarr wrote
        images: [
          ...warm.images.filter(({ attributes }) => attributes.plate === 'demo_mip.zarr'),
          ...['0', '1', '2', '3'].map((field) => ({
            zarr_url: join(reader.folder, 'metadata-3.zarr/A/05', field),
            attributes: { plate: 'metadata-3.zarr', well: 'A05' },
            types: {},
          })),
        ],
      });
      const browser = await launchBrowser();
      onTestFinished(() => browser.close());
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
      await context.addCookies([{ name: 'fastapiusersauth', value: token, url }]);
      const page = await context.newPage();
      const words = async () => (await page.locator('#picture').getAttribute('aria-label')) ?? '';
      const view = (path: string) => page.goto(`${url}${base}/view?image=${encodeURIComponent(path)}`);
      const patience = { timeout: 30_000 };
      const isStill = () =>
        expect.poll(() => page.getByRole('region', { name: 'Picture' }).getAttribute('aria-busy'), patience);

      for (const plate of ['demo_mip.zarr', 'metadata-3.zarr']) {
        await page.goto(`${url}${base}?a.plate=${plate}`);
        await page.getByRole('button', { name: 'Picture', pressed: true }).waitFor();
        await expect.poll(() => page.getByRole('option', { name: /^A0[15],/ }).count(), patience).toBeGreaterThan(0);
        await looksWell(page, `real-plate-${plate.split('.')[0]}`);
      }

      await view(join(warm.zarrDir, 'demo_mip.zarr/A/01/0'));
      await expect.poll(words, patience).toMatch(/nuclei from .* labels nuclei/);
      await isStill().toBe('false');
      await looksWell(page, 'real-nuclei');
      const labelled = await page.locator('#picture').screenshot();
      await page.getByRole('switch', { name: 'Show labels' }).click();
      await expect.poll(words, patience).not.toContain('labels nuclei');
      await isStill().toBe('false');
      expect((await page.locator('#picture').screenshot()).equals(labelled)).toBe(false);

      await view(join(reader.folder, 'metadata-3.zarr/A/05/2'));
      await expect.poll(words, patience).toContain('metadata-3');
      await isStill().toBe('false');
      expect(await page.getByRole('alert').count()).toBe(0);
      await looksWell(page, 'real-shards');
    },
    240_000,
  );
});

/** A service with pages beside the first one, whose administrator has these images in a dataset. */
async function openPages({ images }: { images: Body[] }): Promise<{ url: string; token: string; base: string }> {
  const [, url] = await start().said(READY);
  const form = new URLSearchParams({ username: 'admin@example.org', password: PASSWORD });
  const { body } = await clientOf(url!).raw('/auth/token/login/', { method: 'POST', body: form });
  const token = body.access_token as string;
  const client = clientOf(url!, token);
  const me = await made(client.get('/auth/current-user/'), 200);
  await made(client.patch(`/auth/users/${me.id}/`, { project_dirs: [folder] }), 200);
  const project = await made(client.post('/api/v2/project/', { name: 'Real plates' }));
  const imported = images.map(({ zarr_url, attributes, types }) => ({ zarr_url, attributes, types }));
  const dataset = await made(
    client.post(`/api/v2/project/${project.id}/dataset/import/`, {
      name: 'Plates',
      zarr_dir: folder,
      images: imported,
    }),
  );
  return { url: url!, token, base: `/v2/projects/${project.id}/datasets/${dataset.id}` };
}
