/** Starting jobs from the workflow page: one button that says what it does, one dialog, one confirmation. */
import type { Dataset, Job, Task, Workflow, WorkflowTask } from '@service/contract';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { LONG } from '../../../server/test/support/long.ts';
import { good, goTo, looksWell, type Person, person, share } from './site.ts';

type Project = Awaited<ReturnType<Person['project']>>;
type Images = { items: { zarr_url: string; attributes: Record<string, unknown> }[]; total_count: number };

const dialog = (page: Page) => page.getByRole('dialog');
const runBar = (page: Page) => page.getByRole('region', { name: 'Run', exact: true });
const said = async (page: Page) => (await dialog(page).textContent()) ?? '';
const pathOf = ({ project_id, id }: { project_id: number; id: number }, dataset: { id: number }) =>
  `/v2/projects/${project_id}/workflows/${id}?dataset=${dataset.id}`;

async function openDialog(page: Page, button: string) {
  await runBar(page).getByRole('button', { name: button, exact: true }).click();
  await dialog(page).getByLabel('Last task').waitFor();
}

const openImages = (page: Page) => dialog(page).getByRole('button', { name: 'Choose images' }).click();

async function openReset(page: Page) {
  await runBar(page).getByRole('button', { name: 'Other ways to run' }).click();
  await page.getByRole('menuitem', { name: 'Reset' }).click();
  await dialog(page).getByLabel('Last task').waitFor();
}

const press = (page: Page, name: string | RegExp) =>
  dialog(page)
    .getByRole('button', { name, ...(typeof name === 'string' ? { exact: true } : {}) })
    .click();

/** From the form of the dialog to a job that is taken. */
async function start(page: Page, button: string | RegExp) {
  await press(page, button);
  await dialog(page).waitFor({ state: 'detached' });
}

const jobsOf = (who: Person, project: Project) => good<Job[]>(who.client.get(`/api/v2/project/${project.id}/job/`));
const newestJob = async (who: Person, project: Project) => (await jobsOf(who, project))[0]!;
const datasetsOf = (who: Person, project: Project) =>
  good<Dataset[]>(who.client.get(`/api/v2/project/${project.id}/dataset/`));

async function seenBy(
  who: Person,
  project: Project,
  dataset: Dataset,
  step: WorkflowTask,
): Promise<Record<string, string>> {
  const path = `/api/v2/project/${project.id}/status/images/?workflowtask_id=${step.id}&dataset_id=${dataset.id}`;
  const { items } = await good<Images>(who.client.post(path, {}));
  return Object.fromEntries(
    items.map(({ zarr_url, attributes }) => [
      zarr_url.slice(dataset.zarr_dir.length + 1),
      String(attributes['__wftask_dataset_image_status__']),
    ]),
  );
}

/** How many units each task of the newest job had. */
async function unitsOf(who: Person, project: Project): Promise<Record<string, number>> {
  const { id } = await newestJob(who, project);
  const { tasks } = await good<{ tasks: { name: string; num_units: number }[] }>(
    who.client.get(`/api/v2/project/${project.id}/job/${id}/timeline/`),
  );
  return Object.fromEntries(tasks.map(({ name, num_units }) => [name, num_units]));
}

const setArguments = (who: Person, workflow: Workflow, index: number, args_parallel: object) =>
  good(
    who.client.patch(
      `/api/v2/project/${workflow.project_id}/workflow/${workflow.id}/wftask/${workflow.task_list[index]!.id}/`,
      { args_parallel },
    ),
  );

const FAILS = { plan: { '*': { raise: 'no cells found' } } };

/** Datasets in one folder and a workflow whose converter puts two images into it. */
async function converting(who: Person) {
  const project = await who.project();
  const make = (name: string) =>
    good<Dataset>(
      who.client.post(`/api/v2/project/${project.id}/dataset/`, {
        name,
        project_dir: who.folder,
        zarr_subfolder: 'plates',
      }),
    );
  const dataset = await make('Plate');
  const updates = ['A01', 'A02'].map((well) => ({ zarr_url: `${dataset.zarr_dir}/${well}`, attributes: { well } }));
  const convert = await who.task({ name: 'Convert', type: 'converter_non_parallel' });
  const measure = await who.task({ name: 'Measure' });
  const workflow = await who.workflow(project, 'Plates', [
    { task: convert, args_non_parallel: { plan: { '*': { output: { image_list_updates: updates } } } } },
    { task: measure },
  ]);
  return { project, dataset, make, workflow };
}

test('first run with a converter, a failing one on another dataset, rerun, reset in place and beside', async () => {
  const anna = await person({ name: 'anna' });
  const { project, dataset, make, workflow } = await converting(anna);
  const other = await make('Second');
  const page = await anna.open(pathOf(workflow, dataset));
  await openDialog(page, 'Run');
  expect(await said(page)).toContain('Convert creates new images and ignores existing ones');
  expect(await said(page)).toContain('Tasks 1 to 2 of 2 run on Plate.');
  await looksWell(page, 'run-converter');
  await start(page, 'Run');
  expect((await anna.ended(await newestJob(anna, project))).status).toBe('done');
  await runBar(page).getByRole('button', { name: 'Run again', exact: true }).waitFor();
  await looksWell(page, 'run-done');

  await setArguments(anna, workflow, 1, FAILS);
  await runBar(page).getByRole('button', { name: 'Run on another dataset' }).click();
  await dialog(page).getByRole('button', { name: 'Dataset: Choose a dataset' }).click();
  expect(await dialog(page).getByRole('option').allTextContents()).toEqual([expect.stringContaining('Second')]);
  await dialog(page).getByRole('option', { name: 'Second' }).click();
  await dialog(page).getByText('Tasks 1 to 2 of 2 run on Second.').waitFor();
  await looksWell(page, 'run-other');
  await start(page, 'Run');
  expect((await anna.ended(await newestJob(anna, project))).status).toBe('failed');
  await runBar(page).getByText('Failed', { exact: true }).first().waitFor();
  // each dataset has its own statuses
  await goTo(page, pathOf(workflow, dataset));
  await runBar(page).getByText('Done', { exact: true }).waitFor();

  await setArguments(anna, workflow, 1, {});
  await goTo(page, pathOf(workflow, other));
  await openDialog(page, 'Rerun 2 failed');
  expect(await dialog(page).getByLabel('First task').inputValue()).toBe('1');
  await dialog(page).getByText('All 2 images go to Measure').waitFor();
  await start(page, 'Rerun 2 images');
  const continued = await anna.ended(await newestJob(anna, project));
  expect([continued.status, continued.first_task_index, continued.dataset_id]).toEqual(['done', 1, other.id]);
  await runBar(page).getByRole('button', { name: 'Run again', exact: true }).waitFor();

  await openReset(page);
  expect(await dialog(page).getByLabel('Replace Second').isChecked()).toBe(true);
  expect(await said(page)).toContain('Files on disk stay.');
  await looksWell(page, 'reset');
  await start(page, 'Reset and run');
  await anna.ended(await newestJob(anna, project));
  const replaced = (await datasetsOf(anna, project)).find(({ name }) => name === 'Second')!;
  expect(replaced.id).not.toBe(other.id);
  expect(replaced.zarr_dir).toBe(other.zarr_dir);
  expect(replaced.image_count).toBe(2);
  await expect.poll(() => new URL(page.url()).searchParams.get('dataset')).toBe(String(replaced.id));

  await openReset(page);
  await dialog(page).getByLabel('Replace Second').uncheck();
  expect(await dialog(page).getByLabel('Name of the new dataset').inputValue()).toBe('Second_1');
  await start(page, 'Reset and run');
  await anna.ended(await newestJob(anna, project));
  await runBar(page).getByRole('button', { name: 'Dataset: Second_1' }).waitFor();
  expect((await datasetsOf(anna, project)).map(({ name }) => name).sort()).toEqual(['Plate', 'Second', 'Second_1']);
  const link = page.getByRole('link', { name: /^Jobs \d+$/ });
  expect(await link.getAttribute('href')).toContain(`?dataset=${(await newestJob(anna, project)).dataset_id}`);
});

/** A dataset of four images of two kinds, and a workflow of three tasks of which the first has run. */
async function kinds(who: Person) {
  const project = await who.project();
  const images = [
    { zarr_url: 'a', attributes: { well: 'A01', cycle: 1 }, types: { is_3D: true, corrected: true } },
    { zarr_url: 'b', attributes: { well: 'A02', cycle: 1 }, types: { is_3D: true, corrected: true } },
    { zarr_url: 'c', attributes: { well: 'A01', cycle: 2 }, types: { is_3D: false, corrected: true } },
    { zarr_url: 'd', attributes: { well: 'A02', cycle: 2 }, types: { is_3D: true } },
  ];
  const dataset = await who.dataset(project, 'Plate', images);
  const correct = await who.task({ name: 'Correct', output_types: { corrected: true, is_3D: false } });
  const segment = await who.task({ name: 'Segment' });
  const measure = await who.task({ name: 'Measure' });
  return { project, dataset, correct, segment, measure };
}

test('first task and type filters are preselected, filters and totals follow', async () => {
  const anna = await person({ name: 'anna' });
  const { project, dataset, correct, segment, measure } = await kinds(anna);
  const other = await anna.dataset(project, 'Other', [{ zarr_url: 'x', types: { is_3D: true, corrected: true } }]);
  const workflow = await anna.workflow(project, 'Kinds', [
    { task: correct, args_parallel: { plan: { '*': { raise: 'dark' } } } },
    { task: segment, type_filters: { is_3D: true }, alias: 'Nuclei' },
    { task: measure },
  ]);
  await anna.ended(await anna.submit(project, workflow, dataset, { last_task_index: 0 }));
  await anna.ended(await anna.submit(project, workflow, other, { last_task_index: 0 }));
  const page = await anna.open(pathOf(workflow, dataset));
  await openDialog(page, 'Rerun 4 failed and continue');
  expect(await dialog(page).getByLabel('First task').inputValue()).toBe('0');

  // what task 1 leaves behind, with the filter that Nuclei has of its own
  await dialog(page).getByLabel('First task').selectOption({ label: '2. Nuclei' });
  await dialog(page).getByText('2 of 4 images go to Nuclei').waitFor();
  expect(await said(page)).toContain('2 left out, without the types this task asks for (corrected true, is_3D true)');
  await openImages(page);
  expect(
    await dialog(page)
      .getByRole('button', { name: /^Filter by is_3D/ })
      .getAttribute('aria-disabled'),
  ).toBe('true');
  await looksWell(page, 'continue');

  await dialog(page).getByRole('button', { name: 'Clear the filter corrected' }).click();
  await dialog(page).getByText('3 of 4 images go to Nuclei').waitFor();

  await dialog(page)
    .getByRole('button', { name: /^Filter by Status/ })
    .click();
  await dialog(page).getByRole('option', { name: 'done' }).click();
  await dialog(page).getByText('0 of 4 images go to Nuclei').waitFor();
  expect(await said(page)).toContain('3 left out, with another status than done');
  await dialog(page).getByText('No image reaches Nuclei with these filters.').waitFor();
  await press(page, 'Cancel');

  // nothing is kept for the next time, nor for another dataset
  await openDialog(page, 'Rerun 4 failed and continue');
  await dialog(page).getByLabel('First task').selectOption({ label: '3. Measure' });
  await dialog(page).getByText('1 of 4 images goes to Measure').waitFor();
  await press(page, 'Cancel');
  await goTo(page, pathOf(workflow, other));
  await openDialog(page, 'Rerun 1 failed and continue');
  await dialog(page).getByLabel('First task').selectOption({ label: '2. Nuclei' });
  await dialog(page).getByText('The 1 image goes to Nuclei').waitFor();
});

test('mixed types and images that the task before has not finished are said before the job', async () => {
  const anna = await person({ name: 'anna' });
  const { project, dataset, segment, measure } = await kinds(anna);
  const workflow = await anna.workflow(project, 'Mixed', [{ task: segment }, { task: measure }]);
  const page = await anna.open(pathOf(workflow, dataset));
  await openDialog(page, 'Run');
  await dialog(page).getByLabel('First task').selectOption({ label: '2. Measure' });
  await dialog(page).getByText('All 4 images go to Measure').waitFor();
  await dialog(page)
    .getByText(/Some of these images have the types corrected and is_3D/)
    .waitFor();
  await dialog(page).getByText('4 of these images were not finished by Segment: a, b, c and 1 more.').waitFor();
  await looksWell(page, 'run-warnings');

  await openImages(page);
  await dialog(page)
    .getByRole('button', { name: /^Filter by well/ })
    .click();
  await dialog(page).getByRole('option', { name: 'A01' }).click();
  await dialog(page).getByText('2 of 4 images go to Measure').waitFor();
  await dialog(page).getByText('2 of these images were not finished by Segment: a, c.').waitFor();
  await start(page, 'Run');
  expect((await anna.ended(await newestJob(anna, project))).status).toBe('done');
  expect(await unitsOf(anna, project)).toEqual({ Measure: 2 });
});

test('a check that was still under way when Run was pressed is read before a job starts', async () => {
  const anna = await person({ name: 'anna' });
  const { project, dataset, segment } = await kinds(anna);
  const workflow = await anna.workflow(project, 'Mixed', [{ task: segment }]);
  const page = await anna.open(pathOf(workflow, dataset));
  let answer = () => undefined as void;
  const held = new Promise<void>((resolve) => (answer = resolve));
  await page.route('**/verify-unique-types**', async (route) => {
    await held;
    await route.continue();
  });
  await openDialog(page, 'Run');
  await dialog(page).getByText('All 4 images go to Segment').waitFor();
  await press(page, 'Run');
  answer();
  await dialog(page)
    .getByText(/Some of these images have the types/)
    .waitFor();
  await expect
    .poll(() => dialog(page).getByRole('button', { name: 'Run', exact: true }).getAttribute('aria-disabled'))
    .toBe('false');
  expect(await jobsOf(anna, project)).toEqual([]);
  await start(page, 'Run');
  expect(await jobsOf(anna, project)).toHaveLength(1);
});

test('a filter that was changed a moment ago counts when Run is pressed', async () => {
  const anna = await person({ name: 'anna' });
  const { project, dataset, segment } = await kinds(anna);
  const workflow = await anna.workflow(project, 'Quick', [{ task: segment, type_filters: { is_3D: true } }]);
  const page = await anna.open(pathOf(workflow, dataset));
  // the answer to the new filter is still on its way
  await page.route('**/status/images**', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    await route.continue();
  });
  await openDialog(page, 'Run');
  await dialog(page).getByText('3 of 4 images go to Segment').waitFor();
  await openImages(page);
  await dialog(page)
    .getByRole('button', { name: /^Filter by cycle/ })
    .click();
  await dialog(page).getByRole('option', { name: '2', exact: true }).click();
  await start(page, 'Run');
  const job = await anna.ended(await newestJob(anna, project));
  expect(job.attribute_filters).toEqual({ cycle: [2] });
  expect(await unitsOf(anna, project)).toEqual({ Segment: 1 });
});

test('invalid saved arguments are marked, block the range they are in and no other, and lead to their field', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const dataset = await anna.dataset(project, 'Plate', ['a']);
  const schema = {
    type: 'object',
    properties: { channel: { type: 'string' }, diameter: { type: 'integer' } },
    required: ['channel', 'diameter'],
  };
  const first = await anna.task({ name: 'Segment' });
  const second = await anna.task({ name: 'Measure', schema });
  const workflow = await anna.workflow(project, 'Checked', [
    { task: first },
    { task: second, alias: 'Features', args_parallel: { channel: 'DAPI', diameter: 'wide' } },
  ]);
  const page = await anna.open(pathOf(workflow, dataset));
  const mark = page.getByRole('button', { name: 'Fix 1 argument of Features' });
  await mark.waitFor();
  await openDialog(page, 'Run');
  const alert = dialog(page).getByRole('alert');
  await alert.waitFor();
  expect(await alert.textContent()).toMatch(
    /2\. Features\s+Arguments are missing or invalid\.\s+diameter: Enter a whole/,
  );
  expect(await dialog(page).getByRole('button', { name: 'Run', exact: true }).getAttribute('aria-disabled')).toBe(
    'true',
  );
  await looksWell(page, 'run-invalid');
  await dialog(page).getByLabel('Last task').selectOption({ label: '1. Segment (only this task)' });
  await alert.waitFor({ state: 'detached' });
  await start(page, 'Run');
  const job = await anna.ended(await newestJob(anna, project));
  expect([job.status, job.last_task_index]).toEqual(['done', 0]);

  await openDialog(page, 'Continue from task 2');
  await press(page, 'diameter: Enter a whole number.');
  await dialog(page).waitFor({ state: 'detached' });
  const field = page.getByRole('region', { name: 'Selected task' }).getByRole('textbox', { name: /^diameter/ });
  await expect.poll(() => field.evaluate((input) => input === document.activeElement)).toBe(true);
  await field.fill('30');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await mark.waitFor({ state: 'detached' });
  await openDialog(page, 'Continue from task 2');
  await start(page, 'Run');
  expect((await anna.ended(await newestJob(anna, project))).status).toBe('done');
});

test('a task that is rerun alone, then Run continues with all images', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const dataset = await anna.dataset(project, 'Plate', ['a', 'b', 'c']);
  const [segment, measure] = [await anna.task({ name: 'Segment' }), await anna.task({ name: 'Measure' })];
  const workflow = await anna.workflow(project, 'Rerun', [
    { task: segment, args_parallel: { plan: { [`${dataset.zarr_dir}/b`]: { raise: 'dark' } } } },
    { task: measure },
  ]);
  await anna.ended(await anna.submit(project, workflow, dataset));
  const [first] = workflow.task_list;
  expect(await seenBy(anna, project, dataset, first!)).toEqual({ a: 'done', b: 'failed', c: 'done' });
  await setArguments(anna, workflow, 0, {});

  const page = await anna.open(pathOf(workflow, dataset));
  await openDialog(page, 'Rerun 1 failed and continue');
  await dialog(page).getByText('1 of 3 images goes to Segment').waitFor();
  await dialog(page).getByLabel('Last task').selectOption({ label: '1. Segment (only this task)' });
  await start(page, 'Rerun 1 image');
  expect((await anna.ended(await newestJob(anna, project))).status).toBe('done');
  expect(await unitsOf(anna, project)).toEqual({ Segment: 1 });

  await openDialog(page, 'Continue from task 2');
  expect(await dialog(page).getByLabel('First task').inputValue()).toBe('1');
  await dialog(page).getByText('All 3 images go to Measure').waitFor();
  await start(page, 'Run');
  await anna.ended(await newestJob(anna, project));
  expect(await unitsOf(anna, project)).toEqual({ Measure: 3 });
  // everything again is there for those who ask for it, from any task
  await runBar(page).getByRole('button', { name: 'Run again', exact: true }).waitFor();
  await page.getByRole('button', { name: 'More about task 2' }).click();
  await page.getByRole('menuitem', { name: 'Run from this task' }).click();
  await dialog(page).getByText('3 images that are done for Measure run again.').waitFor();
});

test.runIf(LONG)(
  'six failed images of nine run again without the others, then the next task takes all nine',
  async () => {
    const anna = await person({ name: 'anna' });
    const project = await anna.project();
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
    const dataset = await anna.dataset(project, 'Plate', names);
    const bad = names.slice(3);
    const [segment, measure] = [await anna.task({ name: 'Segment' }), await anna.task({ name: 'Measure' })];
    const plan = Object.fromEntries(bad.map((name) => [`${dataset.zarr_dir}/${name}`, { raise: 'no cells found' }]));
    const workflow = await anna.workflow(project, 'Rerun', [
      { task: segment, args_parallel: { plan } },
      { task: measure },
    ]);
    await anna.ended(await anna.submit(project, workflow, dataset));

    // six equal errors are one row with a count
    const page = await anna.open(pathOf(workflow, dataset));
    await page.getByRole('button', { name: 'Show what failed' }).click();
    const row = page.getByRole('button', { name: /^6 × .*no cells found/ });
    await row.waitFor();
    expect(await row.getAttribute('aria-expanded')).toBe('false');
    const panel = page.getByRole('region', { name: 'Selected task' });
    await panel
      .getByRole('region', { name: 'd', exact: true })
      .getByText('ValueError: no cells found')
      .first()
      .waitFor();
    await looksWell(page, 'workflow-equal-errors');
    await row.click();
    await panel.getByRole('button', { name: /^i\b/ }).click();
    await panel
      .getByRole('region', { name: 'i', exact: true })
      .getByText('ValueError: no cells found')
      .first()
      .waitFor();

    // and among the units of the run
    await panel.getByRole('tab', { name: 'Runs' }).click();
    await panel.getByRole('button', { name: 'Show run 1' }).click();
    const units = panel.getByRole('table', { name: 'Units of this run' });
    const equal = units.getByRole('button', { name: /^6 × .*no cells found/ });
    await equal.waitFor();
    expect(await units.getByRole('row').count()).toBe(1 + 3 + 1);
    await looksWell(page, 'workflow-equal-units');
    await equal.click();
    await expect.poll(() => units.getByRole('row').count()).toBe(1 + 3 + 1 + 6);
    await units.getByRole('button', { name: 'Log of i', exact: true }).click();
    await panel
      .getByRole('region', { name: 'i', exact: true })
      .getByText('ValueError: no cells found')
      .first()
      .waitFor();

    await setArguments(anna, workflow, 0, {});
    await openDialog(page, 'Rerun 6 failed and continue');
    await dialog(page).getByText('6 of 9 images go to Segment').waitFor();
    expect(await said(page)).toContain('3 left out, with another status than failed');
    expect(await said(page)).toContain('3 images that are done for Segment stay as they are.');
    expect(await said(page)).toContain('Later tasks get all images that pass their filters.');
    await looksWell(page, 'rerun');
    await start(page, 'Rerun 6 images and continue');
    expect((await anna.ended(await newestJob(anna, project))).status).toBe('done');
    expect(await unitsOf(anna, project)).toEqual({ Segment: 6, Measure: 9 });
    await runBar(page).getByRole('button', { name: 'Run again', exact: true }).waitFor();
  },
);

test('a stopped task: finished images are done, the rest runs again', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const dataset = await anna.dataset(project, 'Plate', ['a', 'b', 'c']);
  const segment = await anna.task({ name: 'Segment' });
  const wait = { sleep: 60 };
  const plan = { [`${dataset.zarr_dir}/b`]: wait, [`${dataset.zarr_dir}/c`]: wait };
  const workflow = await anna.workflow(project, 'Stop', [{ task: segment, args_parallel: { plan } }]);
  const [step] = workflow.task_list;
  const page = await anna.open(pathOf(workflow, dataset));
  await openDialog(page, 'Run');
  await dialog(page).getByText('All 3 images go to Segment').waitFor();
  await start(page, 'Run');
  await expect.poll(async () => (await seenBy(anna, project, dataset, step!))['a'], { timeout: 30_000 }).toBe('done');
  await runBar(page).getByRole('button', { name: 'Stop' }).click();
  await press(page, 'Stop job');
  await anna.ended(await newestJob(anna, project));
  await runBar(page)
    .getByText(/^Stopped by anna\./)
    .waitFor();
  expect(await seenBy(anna, project, dataset, step!)).toEqual({ a: 'done', b: 'failed', c: 'failed' });

  await setArguments(anna, workflow, 0, {});
  await openDialog(page, 'Rerun 2 stopped');
  await dialog(page).getByText('2 of 3 images go to Segment').waitFor();
  await start(page, 'Rerun 2 images');
  expect((await anna.ended(await newestJob(anna, project))).status).toBe('done');
  expect(await unitsOf(anna, project)).toEqual({ Segment: 2 });
});

test('a dataset outside the own folders is not reset, and says so', async () => {
  const [anna, ben] = [await person({ name: 'anna' }), await person({ name: 'ben' })];
  const { project, dataset, workflow } = await converting(anna);
  await anna.ended(await anna.submit(project, workflow, dataset));
  await good(anna.client.post(`/api/v2/project/${project.id}/guest/?email=${ben.email}`, { permissions: 'rwx' }));
  await good(ben.client.post(`/api/v2/project/${project.id}/access/accept/`, {}));
  const page = await ben.open(pathOf(workflow, dataset));
  await openReset(page);
  expect(await said(page)).toContain(`Plate is stored in ${dataset.zarr_dir}, outside your own folders`);
  expect(await dialog(page).getByRole('button', { name: 'Reset and run' }).getAttribute('aria-disabled')).toBe('true');
  await looksWell(page, 'reset-refused');
  await dialog(page).getByRole('button', { name: 'Reset and run' }).click({ force: true });
  expect((await datasetsOf(anna, project)).map(({ id, image_count }) => [id, image_count])).toEqual([[dataset.id, 2]]);
  expect(await jobsOf(anna, project)).toHaveLength(1);
});

test('reset while the new dataset is refused leaves the old one with images and history', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  // other programs make folders with such names; a new dataset is not put there
  const zarr_dir = `${anna.folder}/plates (old)`;
  const dataset = await good<Dataset>(
    anna.client.post(`/api/v2/project/${project.id}/dataset/import/`, { name: 'Plate', zarr_dir }),
  );
  const output = { image_list_updates: [{ zarr_url: `${zarr_dir}/A01` }] };
  const convert = await anna.task({ name: 'Convert', type: 'converter_non_parallel' });
  const workflow = await anna.workflow(project, 'Plates', [
    { task: convert, args_non_parallel: { plan: { '*': { output } } } },
    { task: await anna.task({ name: 'Measure' }) },
  ]);
  await anna.ended(await anna.submit(project, workflow, dataset));
  const page = await anna.open(pathOf(workflow, dataset));
  await openReset(page);
  await press(page, 'Reset and run');
  await dialog(page).getByRole('alert').waitFor();
  expect(await dialog(page).getByRole('alert').textContent()).toContain('Use letters, digits');
  const [only, ...others] = await datasetsOf(anna, project);
  expect([only!.id, only!.image_count, others]).toEqual([dataset.id, 1, []]);
  expect(await seenBy(anna, project, dataset, workflow.task_list[1]!)).toEqual({ A01: 'done' });
});

test('reset whose job is refused takes the new dataset back', async () => {
  const anna = await person({ name: 'anna' });
  const { project, dataset, workflow } = await converting(anna);
  await anna.ended(await anna.submit(project, workflow, dataset));
  const page = await anna.open(pathOf(workflow, dataset));
  await openReset(page);
  await page.route('**/job/submit**', (route) =>
    route.fulfill({ status: 422, contentType: 'application/json', body: '{"detail":"No new jobs at present."}' }),
  );
  await press(page, 'Reset and run');
  await dialog(page).getByText('No new jobs at present.').waitFor();
  expect((await datasetsOf(anna, project)).map(({ id }) => id)).toEqual([dataset.id]);
});

test('a resource that takes no jobs is said before anything is chosen', async () => {
  const anna = await person({ name: 'anna' });
  const { project, dataset, workflow } = await converting(anna);
  const page = await anna.open(pathOf(workflow, dataset));
  await page.route('**/profile-info**', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), prevent_new_submissions: true } });
  });
  await openDialog(page, 'Run');
  await dialog(page)
    .getByText(/accepting new jobs right now/)
    .waitFor();
  expect(await dialog(page).getByRole('button', { name: 'Run', exact: true }).getAttribute('aria-disabled')).toBe(
    'true',
  );
  expect(await jobsOf(anna, project)).toEqual([]);
});

test('a command that somebody else changed since the last run is shown before it runs in one’s own name', async () => {
  const [anna, bob] = [await person({ name: 'anna' }), await person({ name: 'bob' })];
  const project = await anna.project();
  await share(anna, project, bob, 'rwx');
  const dataset = await bob.dataset(project, 'Plate', ['a']);
  const body = { name: 'Measure', type: 'parallel', version: '1.0.0', command_parallel: 'true --first' };
  const task = await good<Task>(anna.client.post('/api/v2/task/?private=false', body));
  const workflow = await anna.workflow(project, 'Shared', [{ task }]);
  const lines = (page: Page) => dialog(page).getByRole('region', { name: 'Shell lines of the tasks' });

  const page = await bob.open(pathOf(workflow, dataset));
  await openDialog(page, 'Run');
  await lines(page).getByText(`You have not run this command yet. ${anna.email} wrote it today`).waitFor();
  await start(page, 'Run');
  await bob.ended(await newestJob(bob, project));

  // as it was run, it is nothing to talk about
  await goTo(page, pathOf(workflow, dataset));
  await openDialog(page, 'Run again');
  expect(await lines(page).count()).toBe(0);
  await press(page, 'Cancel');

  await good(anna.client.patch(`/api/v2/task/${task.id}/`, { command_parallel: 'true --second' }));
  await openDialog(page, 'Run again');
  await lines(page)
    .getByText(new RegExp(`^${anna.email} changed the command today .*, after you ran this task last \\(today`))
    .waitFor();
  expect(await lines(page).locator('ins').allTextContents()).toEqual(['+ true --second']);
  expect(await lines(page).locator('del').allTextContents()).toEqual(['− true --first']);
  await looksWell(page, 'run-shell-lines');
  await press(page, 'Cancel');

  // who changed it is told nothing new, but that it was never run
  const own = await anna.open(pathOf(workflow, dataset));
  await openDialog(own, 'Run again');
  expect(await lines(own).count()).toBe(0);
});
