/**
 * What a person waits for: real tasks over a small plate, as a first job and as the next one, beside the same functions called
 * one after the other in one Python process.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

import pg from 'pg';

import { drawPlate } from '../tests/support/demo-plate.ts';
import { createProject, runJob } from './jobs.ts';
import {
  besideOtherAccount,
  type Call,
  caller,
  collectPackage,
  line,
  login,
  ratio,
  type Servers,
  withServers,
} from './support.ts';

const PACKAGE = 'fractal-tasks-core';
const VERSION = '2.1.0';
const WELLS = 6;
const SIZE = 1024;
const SLOTS = 2;

const CHANNEL = { mode: 'label', identifier: 'nuclei' };
const SEGMENT = { channel: CHANNEL, output_label_name: 'nuclei' };
const MEASURE = {
  input_label_name: 'nuclei',
  output_table_name: 'nuclei_features',
  features: [{ type: 'ShapeFeatures' }, { type: 'IntensityFeatures' }],
  advanced_options: { table_backend: 'csv' },
};
const STEPS = [
  { task: 'Import OME-Zarr', args_non_parallel: { zarr_name: 'demo.zarr' } },
  { task: 'Project Image (HCS Plate)', args_non_parallel: { method: 'Maximum intensity projection' } },
  { task: 'Threshold Segmentation', args_parallel: SEGMENT },
  { task: 'Measure Features', args_parallel: MEASURE },
];

/** The same functions, as a person would call them in a notebook. */
const SEQUENCE = `
import json, sys
zarr_dir, segment, measure = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
from fractal_tasks_core.import_ome_zarr import import_ome_zarr
from fractal_tasks_core.init_projection_hcs import init_projection_hcs
from fractal_tasks_core.compute_projection_hcs import compute_projection_hcs
from fractal_tasks_core.threshold_segmentation import threshold_segmentation
from fractal_tasks_core.measure_features import measure_features
found = import_ome_zarr(zarr_dir=zarr_dir, zarr_name="demo.zarr")
urls = [image["zarr_url"] for image in found["image_list_updates"]]
todo = init_projection_hcs(zarr_urls=urls, zarr_dir=zarr_dir, method="Maximum intensity projection")
images = []
for item in todo["parallelization_list"]:
    made = compute_projection_hcs(**item)
    images += [image["zarr_url"] for image in made["image_list_updates"]]
for url in images:
    threshold_segmentation(zarr_url=url, **segment)
for url in images:
    measure_features(zarr_url=url, **measure)
`;

interface Group {
  venv_path: string;
  task_list: { id: number; name: string; type: string }[];
}

/** Every file below a folder, with what is in it. A table names the axes of a region in another order each time. */
function filesIn(path: string): string {
  const inOrder = (table: string) =>
    table.replace(/Roi\(([^)]*)\)/g, (_, axes: string) => `Roi(${axes.split(', ').sort().join(', ')})`);
  const files = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const digests = files.map((file) => {
    const content = file.endsWith('.csv') ? inOrder(readFileSync(file, 'utf8')) : readFileSync(file);
    return `${relative(path, file)} ${createHash('sha256').update(content).digest('hex')}`;
  });
  return digests.join('\n');
}

function inSequence(python: string, zarrDir: string): number {
  const begun = performance.now();
  const program = join(zarrDir, '..', 'sequence.py');
  writeFileSync(program, SEQUENCE);
  execFileSync(python, [program, zarrDir, JSON.stringify(SEGMENT), JSON.stringify(MEASURE)], { stdio: 'ignore' });
  return (performance.now() - begun) / 1000;
}

async function workflow(call: Call, base: string, group: Group, warm_start: boolean): Promise<number> {
  const { id } = (await call.post(`${base}/workflow/`, { name: `warm ${warm_start}` })) as { id: number };
  const tasks = STEPS.map(({ task, ...args }) => {
    const found = group.task_list.find(({ name }) => name === task)!;
    const many = { meta_parallel: { warm_start, parallel_tasks_per_job: SLOTS } };
    const one = { meta_non_parallel: { warm_start } };
    const meta = { ...(found.type === 'parallel' ? {} : one), ...(found.type.startsWith('converter') ? {} : many) };
    return { task_id: found.id, ...args, ...meta };
  });
  await call.post(`${base}/workflow/${id}/wftask/`, tasks);
  return id;
}

async function measure(
  { serviceUrl, connection }: Servers,
  folder: string,
  account: string | undefined,
): Promise<Record<string, number>> {
  const db = new pg.Client(connection);
  await db.connect();
  const token = await login(serviceUrl);
  const call = caller(serviceUrl, token);
  const { project } = await createProject(db);
  await db.query('update users set project_dirs = $1 where id = 1', [[folder]]);
  const base = `/api/v2/project/${project}`;
  const { id } = await collectPackage(serviceUrl, token, call, { package: PACKAGE, package_version: VERSION });
  const group = (await call.get(`/api/v2/task-group/${id}/`)) as Group;
  const python = join(group.venv_path, 'bin/python');
  drawPlate(folder, { wells: WELLS, size: SIZE });
  const copy = (name: string) => {
    cpSync(join(folder, 'demo.zarr'), join(folder, name, 'demo.zarr'), { recursive: true });
    if (account !== undefined) execFileSync('chown', ['-R', `${account}:`, folder]);
    return join(folder, name);
  };
  const flows = { warm: await workflow(call, base, group, true), cold: await workflow(call, base, group, false) };

  async function job(name: string, flow: number): Promise<{ seconds: number; files: string }> {
    copy(name);
    const dataset = (await call.post(`${base}/dataset/`, { name, project_dir: folder, zarr_subfolder: name })) as {
      id: number;
    };
    const seconds = await runJob({ call, db }, project, flow, dataset.id);
    return { seconds, files: filesIn(join(folder, name)) };
  }

  // what else the machine does changes meanwhile: the jobs are between two runs of what they are compared with
  const before = inSequence(python, copy('sequence-1'));
  const first = await job('first', flows.warm);
  const second = await job('second', flows.warm);
  const after = inSequence(python, copy('sequence-2'));
  const cold = await job('cold', flows.cold);
  const reference = (before + after) / 2;
  line(
    `${STEPS.length} tasks on ${WELLS} wells, in one Python process`,
    `${reference.toFixed(1)} s`,
    'imports included',
  );
  line('as a job, cold', `${cold.seconds.toFixed(1)} s`, `ratio ${ratio(cold.seconds / reference)}`);
  line('first job', `${first.seconds.toFixed(1)} s`, `ratio ${ratio(first.seconds / reference)}, at most 1.8`);
  line('second job', `${second.seconds.toFixed(1)} s`, `ratio ${ratio(second.seconds / reference)}, at most 0.9`);
  const equal = first.files === cold.files && second.files === cold.files;
  line('files of each job as those of the cold one', equal ? 'equal' : 'NOT EQUAL');
  await db.end();
  return { 'first job': first.seconds / reference, 'second job': second.seconds / reference };
}

export async function run(): Promise<void> {
  delete process.env['PYTHONDONTWRITEBYTECODE'];
  await besideOtherAccount(async (account) => {
    const folder = mkdtempSync(join(tmpdir(), 'service-bench-plate-'));
    try {
      return await withServers((servers) => measure(servers, folder, account), account);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
