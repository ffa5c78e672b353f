/** A large screen: 50 000 images on four plates of 384 wells, a workflow of twenty tasks, and something that failed. */
import { expect, test } from 'vitest';

import type { Dataset, Project, Workflow } from '@service/contract';

import { LONG } from '../../../server/test/support/long.ts';
import { good, looksWell, type Person, person } from './site.ts';

const IMAGES = 50_000;
const PLATES = 4;
const ROWS = [...'ABCDEFGHIJKLMNOP'];
const COLUMNS = 24;
const WELLS = PLATES * ROWS.length * COLUMNS;
const PREPARE_MS = 600_000;

const STEPS = [
  'Convert Plate',
  'Correct Illumination',
  'Register Cycles',
  'Apply Registration',
  'Project',
  'Segment Nuclei',
  'Segment Cells',
  'Expand Labels',
  'Measure Nuclei',
  'Measure Cells',
  'Measure Texture',
  'Detect Spots',
  'Count Spots',
  'Track Objects',
  'Classify',
  'Normalise',
  'Aggregate Wells',
  'Quality Control',
  'Export Tables',
  'Make Report',
];
const [FAILS_AT, DONE] = [5, 5];
/** What runs image by image is a few wells of one plate: a process for each of 50 000 would take hours. */
const TRIED = { plate: ['Plate 1'], well: ['A01', 'A02'] };
const FAILED_FIELDS = 6;

const two = (number: number) => String(number).padStart(2, '0');

/** Plate by plate, well by well; some wells have a field more than others. */
function imageAt(at: number, folder: string) {
  const [place, field] = [at % WELLS, Math.floor(at / WELLS)];
  const plate = `Plate ${1 + Math.floor(place / (ROWS.length * COLUMNS))}`;
  const [row, column] = [ROWS[Math.floor(place / COLUMNS) % ROWS.length]!, (place % COLUMNS) + 1];
  return {
    zarr_url: `${folder}/${plate.replace(' ', '_')}.zarr/${row}/${two(column)}/${field}`,
    attributes: {
      plate,
      well: `${row}${two(column)}`,
      field,
      compound: column <= 2 ? 'DMSO' : `C-${100 + Math.floor(place / 8)}`,
      dose: column <= 2 ? 0 : 10 / 2 ** (column % 8),
    },
    types: { is_3D: field % 2 === 0 },
  };
}

interface Place {
  anna: Person;
  project: Project;
  dataset: Dataset;
  workflow: Workflow;
}

async function prepare(): Promise<Place> {
  const anna = await person({ name: 'anna' });
  const project = await anna.project('Kinase inhibitor screen');
  const zarr_dir = `${anna.folder}/screen`;
  const dataset = await good<Dataset>(
    anna.client.post(`/api/v2/project/${project.id}/dataset/import/`, {
      name: 'Screen, batch 2 (4 plates)',
      zarr_dir,
      images: Array.from({ length: IMAGES }, (_, at) => imageAt(at, zarr_dir)),
    }),
  );
  const tasks = await Promise.all(
    STEPS.map((name, at) => anna.task({ name, type: at >= FAILS_AT ? 'parallel' : 'non_parallel' })),
  );
  const plan = Object.fromEntries(
    Array.from({ length: FAILED_FIELDS }, (_, field) => [
      `${zarr_dir}/Plate_1.zarr/A/02/${field}`,
      { raise: 'no nuclei found: is the channel DAPI?' },
    ]),
  );
  const workflow = await anna.workflow(
    project,
    'Nuclei, cells and spots',
    tasks.map((task, at) => ({ task, ...(at === FAILS_AT ? { args_parallel: { plan } } : {}) })),
  );
  const whole = await anna.submit(project, workflow, dataset, { first_task_index: 0, last_task_index: DONE - 1 });
  expect((await anna.ended(whole, PREPARE_MS)).status).toBe('done');
  const part = { first_task_index: FAILS_AT, last_task_index: FAILS_AT, attribute_filters: TRIED };
  expect((await anna.ended(await anna.submit(project, workflow, dataset, part), PREPARE_MS)).status).toBe('failed');
  return { anna, project, dataset, workflow };
}

let place: Promise<Place> | undefined;
const prepared = () => (place ??= prepare());

const long = test.runIf(LONG);

long.each([1440, 1024])('the dataset page, %i wide', { timeout: PREPARE_MS }, async (width) => {
  const { anna, project, dataset } = await prepared();
  const page = await anna.open(`/v2/projects/${project.id}/datasets/${dataset.id}`, { width, height: 900 });
  await page.getByRole('table').first().waitFor();
  await page.getByRole('button', { name: /^A02 .*6 × ValueError/ }).waitFor();
  await looksWell(page, `large-dataset-${width}`);
});

long.each([1440, 1024])('the workflow page, %i wide', { timeout: PREPARE_MS }, async (width) => {
  const { anna, project, dataset, workflow } = await prepared();
  const path = `/v2/projects/${project.id}/workflows/${workflow.id}?dataset=${dataset.id}`;
  const page = await anna.open(path, { width, height: 900 });
  const tasks = page.getByRole('region', { name: 'Tasks of this workflow' });
  await expect.poll(() => tasks.getByRole('listitem').count()).toBe(STEPS.length);
  await page.getByText('6 images failed in Segment Nuclei').waitFor();
  await looksWell(page, `large-workflow-${width}`);
  await page.getByRole('button', { name: 'Show what failed' }).click();
  await page.getByRole('button', { name: /^6 × / }).waitFor();
  await looksWell(page, `large-workflow-failed-${width}`);
});
