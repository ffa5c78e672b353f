/**
 * A real task package over a real plate: imported, projected, segmented and measured. Once with warm start and once
 * without, which must make no difference but in CPU time.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { until } from '../packages/server/test/support/lab.ts';
import { addPerson, addProfile } from '../packages/server/test/support/plates.ts';
import { type Client, startService } from '../packages/server/test/support/server.ts';
import { drawPlate } from './support/demo-plate.ts';
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
  job: Body;
  images: Body[];
  /** Of each task, in the order of the workflow. */
  units: Unit[][];
}

async function openPlace() {
  const service = await startService({ settings: { SERVICE_DATA_DIR: join(folder, 'data') } });
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
  return (await addPerson(service, profile, { project_dirs: [folder] })).client;
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
  return { zarrDir, job, images, units };
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
  let cold: Run;
  beforeAll(async () => {
    // so that not every process compiles what it imports
    vi.stubEnv('PYTHONDONTWRITEBYTECODE', undefined);
    const client = await openPlace();
    const group = await collect(client);
    python = join(group.venv_path, 'bin/python');
    const [image] = drawPlate(folder, { wells: WELLS.length, size: 128 });
    const plate = image!.slice(0, -'/A/01/0'.length);
    // at the same time: the machine is as busy for the one as for the other
    const both = [true, false].map((warm_start) => run(client, group.task_list, plate, warm_start));
    [warm, cold] = (await Promise.all(both)) as [Run, Run];
  }, 600_000);

  it('runs to the end', () => {
    for (const { job } of [warm, cold]) expect(job).toMatchObject({ status: 'done', failure: null });
  });

  it('lists the images of the plate and of its projection', () => {
    for (const { images, zarrDir } of [warm, cold]) {
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
    for (const { units, zarrDir } of [warm, cold]) {
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
    for (const { units } of [warm, cold]) {
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

  it('does with warm start what it does without: the same files and logs', () => {
    expect(filesIn(warm.zarrDir)).toEqual(filesIn(cold.zarrDir));
    const logs = (run: Run) => run.units.map((list) => list.map((unit) => logOf(unit, run)));
    expect(logs(warm)).toEqual(logs(cold));
  });

  it('takes far less CPU with warm start', () => {
    for (const step of [SEGMENTED, SKIPPED, MEASURED]) {
      expect(cpuOf(warm.units[step]!)).toBeLessThan(cpuOf(cold.units[step]!) / 2);
    }
    const computed = ({ units }: Run) => cpuOf(units[PROJECTED]!.filter((unit) => !unit.is_init));
    expect(computed(warm)).toBeLessThan(computed(cold) / 2);
  });
});
