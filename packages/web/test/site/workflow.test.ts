/** The workflow page: what ran, what runs, what failed and why. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dataset, Project, Workflow } from '@service/contract';
import { expect, test } from 'vitest';
import type { Page as BrowserPage } from 'playwright-core';

import { LONG } from '../../../server/test/support/long.ts';
import { goTo, good, looksWell, person, share } from './site.ts';

const IMAGES = ['p.zarr/A/01/0', 'p.zarr/A/02/0', 'p.zarr/A/03/0'].map((zarr_url, index) => ({
  zarr_url,
  attributes: { plate: 'p.zarr', well: `A0${index + 1}` },
}));
const SCHEMA = {
  type: 'object',
  properties: {
    plan: { type: 'object', title: 'Plan', additionalProperties: true },
    diameter: { type: 'number', title: 'Diameter', default: 30 },
  },
};

const pathOf = (project: Project, workflow: Workflow) => `/v2/projects/${project.id}/workflows/${workflow.id}`;
const task = (page: BrowserPage, name: string) =>
  page.getByRole('region', { name: 'Tasks of this workflow' }).getByRole('listitem').filter({ hasText: name });
const panel = (page: BrowserPage) => page.getByRole('region', { name: 'Selected task' });
const tab = (page: BrowserPage, name: string) => panel(page).getByRole('tab', { name: new RegExp(`^${name}`) });
const logOf = (page: BrowserPage, well: string) => panel(page).getByRole('region', { name: `Log of p.zarr, ${well}` });
const run = (page: BrowserPage) => page.getByRole('region', { name: 'Run', exact: true });

/** A project with three images, and a task that does what its plan says. */
async function begin(plan: (dataset: Dataset) => object, { tasks = 1 } = {}) {
  const anna = await person({ name: 'anna' });
  const project = await anna.project('Screen 7');
  const dataset = await anna.dataset(project, 'Plate', IMAGES);
  const segment = await anna.task({ name: 'Segment nuclei', schema: SCHEMA });
  const workflow = await anna.workflow(
    project,
    'Nuclei',
    Array.from({ length: tasks }, (_, index) => ({
      task: segment,
      alias: index === 0 ? 'Segment' : `Measure ${index}`,
      args_parallel: { plan: plan(dataset) },
    })),
  );
  return { anna, project, dataset, workflow, path: pathOf(project, workflow) };
}

const TRACEBACK = [
  'reading the image',
  'WARNING: the image is dark',
  'Traceback (most recent call last):',
  '  File "segment.py", line 284, in segment',
  '    masks = region(image)',
  'ValueError: chunk 0/0 is damaged',
].join('\n');

const failingOn = (well: string) => (dataset: Dataset) => ({
  [`${dataset.zarr_dir}/p.zarr/A/${well}/0`]: { print: TRACEBACK, exit: 1 },
  '*': { print: 'all is well' },
});

async function ran({ anna, project, workflow, dataset }: Awaited<ReturnType<typeof begin>>, body = {}) {
  return anna.ended(await anna.submit(project, workflow, dataset, body));
}

test('the first load asks six times at most, also with twenty tasks', async () => {
  const { anna, path, dataset } = await begin(() => ({}), { tasks: 20 });
  const page = await anna.open('/v2/projects');
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/')) asked.push(pathname);
  });
  await goTo(page, path);
  await expect.poll(() => asked.some((one) => one.endsWith('/events'))).toBe(true);
  await expect.poll(() => task(page, 'Measure 19').count()).toBe(1);
  await page.waitForLoadState('networkidle').catch(() => undefined);
  expect(asked.length, asked.join('\n')).toBeLessThanOrEqual(6);
  expect(new URL(page.url()).searchParams.get('dataset')).toBe(String(dataset.id));
});

test('nothing has run yet: the page says so and offers Run', async () => {
  const { anna, path } = await begin(() => ({}));
  const page = await anna.open(path);
  await run(page).getByText('This workflow has not run on this dataset yet.').waitFor();
  await expect.poll(() => task(page, 'Segment').getByText('not run').count()).toBe(1);
  await expect.poll(() => run(page).getByRole('button', { name: 'Run' }).getAttribute('aria-disabled')).toBe('false');
  await looksWell(page, 'workflow-not-run');
});

test('without tasks the page offers to add one', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const workflow = await anna.workflow(project, 'Empty', []);
  const page = await anna.open(pathOf(project, workflow));
  await page.getByRole('heading', { name: 'No tasks yet' }).waitFor();
  await expect
    .poll(() => run(page).getByRole('button', { name: 'Run' }).getAttribute('title'))
    .toBe('Add a task first.');
  await page.getByRole('heading', { name: 'Add the first tasks' }).waitFor();
  await looksWell(page, 'workflow-empty');
});

test('the choice of a dataset is in the address and remembered', async () => {
  const { anna, project, path, dataset } = await begin(() => ({}));
  const other = await anna.dataset(project, 'Another plate');
  const page = await anna.open(path);
  // the newest, since nothing has run
  await page.getByRole('button', { name: 'Dataset: Another plate' }).click();
  await page.getByRole('option', { name: 'Plate', exact: true }).click();
  await page.waitForURL(`**${path}?dataset=${dataset.id}`);
  await goTo(page, path);
  await page.waitForURL(`**${path}?dataset=${dataset.id}`);
  await page.getByRole('button', { name: 'Dataset: Plate' }).waitFor();
  await goTo(page, `${path}?dataset=${other.id}`);
  await page.getByRole('button', { name: 'Dataset: Another plate' }).waitFor();
  // one that is not there is said, and no other is taken for it
  await goTo(page, `${path}?dataset=999999`);
  await page.getByText('Dataset 999999 not found in this project.').waitFor();
  await page.getByRole('button', { name: 'Dataset: No dataset' }).waitFor();
  expect(page.url()).toContain('?dataset=999999');
});

const tabOf = async (page: BrowserPage) => ({
  title: await page.title(),
  icon: decodeURIComponent((await page.locator('link[rel="icon"]').getAttribute('href'))!),
});

test('a running job moves by itself, the panel follows it, and its end is told', async () => {
  const begun = await begin(() => ({ '*': { wait_for: 'later' } }), { tasks: 2 });
  const { anna, project, workflow, dataset, path } = begun;
  const gate = (well: string) => join(anna.folder, `go-${well}`);
  const plan = Object.fromEntries(
    ['01', '02', '03'].map((well) => [`${dataset.zarr_dir}/p.zarr/A/${well}/0`, { wait_for: gate(well) }]),
  );
  const plans = [plan, { '*': { wait_for: gate('next') } }];
  for (const [index, { id }] of workflow.task_list.entries()) {
    const path_of = `/api/v2/project/${project.id}/workflow/${workflow.id}/wftask/${id}/`;
    await good(anna.client.patch(path_of, { args_parallel: { plan: plans[index] } }));
  }
  const page = await anna.open(`${path}?dataset=${dataset.id}`);
  expect(await tabOf(page)).toMatchObject({ title: expect.stringMatching(/^Nuclei · /), icon: 'data:,' });
  await tab(page, 'Runs').click();
  await panel(page).getByText('No runs yet').waitFor();
  await anna.submit(project, workflow, dataset);
  // heard through the stream, without a reload
  await run(page).getByText('Running', { exact: true }).waitFor();
  await expect.poll(() => run(page).getByRole('button', { name: 'Stop' }).count()).toBe(1);
  await panel(page).getByRole('button', { name: 'Show run 1' }).waitFor();
  await tab(page, 'Arguments').click();
  await panel(page).getByText('Edits apply to the next run.').waitFor();
  writeFileSync(gate('01'), '');
  await expect.poll(() => task(page, 'Segment').textContent(), { timeout: 20_000 }).toContain('1 of 3');
  await looksWell(page, 'workflow-running');
  expect(await tabOf(page)).toEqual({
    title: expect.stringMatching(/^33 %, task 1 of 2 · Nuclei · /),
    icon: expect.stringContaining('#2f6be0'),
  });

  // the panel stays where the reader went, until the running task is asked for
  const heading = (name: string) => panel(page).getByRole('heading', { name, exact: true });
  await heading('Segment').waitFor();
  await task(page, 'Measure 1').getByRole('link').first().click();
  await heading('Measure 1').waitFor();
  writeFileSync(gate('02'), '');
  await expect.poll(() => task(page, 'Segment').textContent(), { timeout: 20_000 }).toContain('2 of 3');
  await heading('Measure 1').waitFor();
  await run(page).getByRole('button', { name: 'Segment' }).click();
  await heading('Segment').waitFor();
  writeFileSync(gate('03'), '');
  await expect.poll(() => task(page, 'Segment').textContent(), { timeout: 20_000 }).toContain('3 done');
  await heading('Measure 1').waitFor();
  writeFileSync(gate('next'), '');
  await page.getByRole('status').filter({ hasText: 'Nuclei: Done.' }).waitFor();
  await run(page).getByRole('button', { name: 'Run again', exact: true }).waitFor();
  expect(await tabOf(page)).toEqual({
    title: expect.stringMatching(/^Done · Nuclei · /),
    icon: expect.stringContaining('#2f8f60'),
  });
});

test('without a stream the page asks again by itself, and says so', async () => {
  const { anna, project, workflow, dataset, path } = await begin(() => ({}));
  const page = await anna.open('/v2/projects');
  await page.route('**/events', (route) => route.abort());
  await goTo(page, `${path}?dataset=${dataset.id}`);
  await page
    .getByRole('status')
    .filter({ hasText: /direct line to the service was lost|No answer from the service/ })
    .waitFor();
  await anna.ended(await anna.submit(project, workflow, dataset));
  await expect.poll(() => task(page, 'Segment').textContent(), { timeout: 40_000 }).toContain('3 done');
});

test('Stop asks first, then says Stopping and who stopped', async () => {
  const begun = await begin(() => ({ '*': { sleep: 60 } }));
  const { anna, project, workflow, dataset, path } = begun;
  const job = await anna.submit(project, workflow, dataset);
  const page = await anna.open(path);
  await run(page).getByText('Running', { exact: true }).waitFor();
  await run(page).getByRole('button', { name: 'Stop' }).click();
  const question = page.getByRole('dialog', { name: `Stop job ${job.id}?` });
  await expect.poll(() => question.textContent()).toContain('will not start');
  await looksWell(page, 'workflow-stop');
  await question.getByRole('button', { name: 'Stop job' }).click();
  await run(page)
    .getByText(`Stopped by ${anna.email.split('@')[0]}`)
    .waitFor({ timeout: 30_000 });
  await page.getByRole('status').filter({ hasText: 'Finished results are kept.' }).waitFor();
  await expect.poll(() => run(page).getByRole('button', { name: 'Rerun 3 stopped' }).count()).toBe(1);
});

test('a failed task: short error, then the failed image and its log in two clicks', async () => {
  const begun = await begin(failingOn('02'), { tasks: 2 });
  await ran(begun);
  const page = await begun.anna.open(begun.path);
  const notice = page.getByRole('alert').filter({ hasText: '1 image failed in Segment.' });
  await expect.poll(() => notice.textContent()).toContain('ValueError: chunk 0/0 is damaged');
  await expect.poll(() => notice.getByRole('link', { name: 'Job log' }).count()).toBe(1);
  await expect.poll(() => task(page, 'Segment').textContent()).toContain('1 failed, 2 done');
  await expect.poll(() => task(page, 'Measure 1').textContent()).toContain('not run');

  await panel(page).getByRole('button', { name: '1 failed', exact: true }).click();
  const row = panel(page).getByRole('row').filter({ hasText: 'p.zarr/A/02/0' });
  await row.waitFor();
  expect(await panel(page).getByRole('row').count()).toBe(2);
  await looksWell(page, 'workflow-images');

  await row.getByRole('button', { name: 'Log of p.zarr/A/02/0' }).click();
  const log = panel(page).getByRole('region', { name: 'Log of p.zarr, A02' });
  await log.getByText('ValueError: chunk 0/0 is damaged').waitFor();
  expect(await log.textContent()).not.toContain('the image is dark');
  await log.getByRole('button', { name: /^Show 4 lines, 1 warning/ }).click();
  await log.getByText('WARNING: the image is dark').waitFor();
  await looksWell(page, 'workflow-image-log');
});

test('f goes from one failed image to the next, l opens a log, j and k walk the tasks', async () => {
  const begun = await begin(
    (dataset) => ({
      [`${dataset.zarr_dir}/p.zarr/A/01/0`]: { exit: 1, print: 'broken one' },
      [`${dataset.zarr_dir}/p.zarr/A/03/0`]: { exit: 1, print: 'broken three' },
    }),
    { tasks: 2 },
  );
  await ran(begun);
  const page = await begun.anna.open(begun.path);
  await panel(page).getByRole('heading', { name: 'Segment' }).waitFor();
  await page.keyboard.press('j');
  await panel(page).getByRole('heading', { name: 'Measure 1' }).waitFor();
  await page.keyboard.press('k');
  await panel(page).getByRole('heading', { name: 'Segment' }).waitFor();
  await page.keyboard.press('f');
  await logOf(page, 'A01').getByText('broken one').waitFor();
  await page.keyboard.press('f');
  await logOf(page, 'A03').getByText('broken three').waitFor();
  await panel(page).getByRole('button', { name: 'Previous image' }).click();
  await logOf(page, 'A01').getByText('broken one').waitFor();
  await panel(page).getByRole('button', { name: 'Close the log' }).click();
  // in a field letters are letters
  await tab(page, 'Info').click();
  await panel(page).getByRole('button', { name: 'Edit alias' }).click();
  await panel(page).getByRole('textbox', { name: 'Alias' }).fill('');
  await page.keyboard.type('jfk');
  expect(await panel(page).getByRole('textbox', { name: 'Alias' }).inputValue()).toBe('jfk');
  await page.keyboard.press('Escape');
  await tab(page, 'Arguments').click();
  await tab(page, 'Arguments').blur();
  await page.keyboard.press('l');
  await logOf(page, 'A01').getByText('broken one').waitFor();
});

test('each run shows its own values, read-only', async () => {
  const begun = await begin(() => ({}));
  const { anna, project, workflow, path } = begun;
  const step = workflow.task_list[0]!;
  const wftask = `/api/v2/project/${project.id}/workflow/${workflow.id}/wftask/${step.id}/`;
  await good(anna.client.patch(wftask, { args_parallel: { diameter: 11 }, meta_parallel: { mem: 100 } }));
  await ran(begun);
  await good(
    anna.client.patch(wftask, {
      args_parallel: { diameter: 22 },
      meta_parallel: { mem: 200 },
      alias: 'Renamed',
      type_filters: { is_3D: false },
    }),
  );
  await ran(begun);
  const page = await anna.open(path);
  await tab(page, 'Runs').click();
  await panel(page).getByRole('button', { name: 'Show run 1' }).click();
  await tab(page, 'Arguments').click();
  const diameter = panel(page).getByRole('textbox', { name: 'Diameter' });
  await expect.poll(() => diameter.inputValue()).toBe('11');
  expect(await diameter.isEditable()).toBe(false);
  expect(await panel(page).getByRole('button', { name: 'Save' }).count()).toBe(0);
  await looksWell(page, 'workflow-run');
  await tab(page, 'Resources').click();
  await expect.poll(() => panel(page).getByRole('textbox', { name: 'Value of mem' }).inputValue()).toBe('100');
  await tab(page, 'Types').click();
  await panel(page).getByText('No filter: it takes all images that reach it.').waitFor();
  await tab(page, 'Info').click();
  await expect.poll(() => panel(page).getByRole('tabpanel').textContent()).toContain('Alias Segment');
  expect(await panel(page).getByRole('button', { name: 'Edit alias' }).count()).toBe(0);

  // the second one, from the list of tasks
  await task(page, 'Renamed').getByRole('button', { name: 'Runs of Renamed' }).click();
  await task(page, 'Renamed').getByRole('button', { name: /Run 2/ }).click();
  await tab(page, 'Arguments').click();
  await expect.poll(() => diameter.inputValue()).toBe('22');
  await panel(page).getByRole('button', { name: 'Back to now' }).click();
  await panel(page).getByRole('button', { name: 'Save' }).waitFor();
});

test('the units of a run: filter, log, and the list of several images', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project('Screen 8');
  const dataset = await anna.dataset(project, 'Plate', IMAGES);
  const [one, all] = await Promise.all([
    anna.task({ name: 'Correct' }),
    anna.task({ name: 'Register', type: 'non_parallel' }),
  ]);
  const plan = failingOn('03')(dataset);
  const workflow = await anna.workflow(project, 'Nuclei', [
    { task: all, args_non_parallel: { plan: { '*': { print: 'all three at once' } } } },
    { task: one, args_parallel: { plan } },
  ]);
  await anna.ended(await anna.submit(project, workflow, dataset));
  const page = await anna.open(`${pathOf(project, workflow)}?task=${workflow.task_list[0]!.id}&tab=runs`);
  await panel(page).getByRole('button', { name: 'Show run 1' }).click();
  await panel(page).getByRole('button', { name: '3 images', exact: true }).click();
  const list = page.getByRole('dialog', { name: '3 images' });
  await expect.poll(() => list.getByRole('listitem').allTextContents()).toEqual(IMAGES.map(({ zarr_url }) => zarr_url));
  await looksWell(page, 'workflow-unit-images');
  await list.getByRole('button', { name: 'Back to the units' }).click();
  await panel(page).getByRole('button', { name: 'Log of 3 images' }).click();
  await panel(page).getByText('all three at once').waitFor();

  await task(page, 'Correct').getByRole('link').click();
  await panel(page).getByRole('button', { name: 'Show run 1' }).click();
  const units = panel(page).getByRole('table', { name: 'Units of this run' });
  await expect.poll(() => units.getByRole('row').count()).toBe(4);
  await panel(page).getByRole('button', { name: 'Failed', exact: true }).click();
  await expect.poll(() => units.getByRole('row').count()).toBe(2);
  await units.getByRole('button', { name: 'Log of p.zarr/A/03/0' }).click();
  await panel(page).getByText('ValueError: chunk 0/0 is damaged').waitFor();
  await looksWell(page, 'workflow-units');
});

test('who may only read sees everything and no control that would be refused', async () => {
  const begun = await begin(failingOn('02'));
  await ran(begun);
  const bob = await person({ name: 'bob' });
  await share(begun.anna, begun.project, bob, 'r');
  const page = await bob.open(begun.path);
  await expect.poll(() => task(page, 'Segment').textContent()).toContain('1 failed, 2 done');
  for (const name of ['Add task', 'Save', 'Duplicate task'])
    expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0);
  const go = run(page).getByRole('button', { name: 'Rerun 1 failed' });
  expect(await go.getAttribute('aria-disabled')).toBe('true');
  expect(await go.getAttribute('title')).toBe(
    `You can read this project. Ask ${begun.anna.email} for permission to run.`,
  );
  await panel(page).getByText(`Ask ${begun.anna.email} for permission to edit.`).waitFor();
  expect(await panel(page).getByRole('textbox', { name: 'Diameter' }).isEditable()).toBe(false);
  await looksWell(page, 'workflow-read-only');
});

test.each(LONG ? [1024, 768] : [768])('it can be used at %i pixels', async (width) => {
  const begun = await begin(failingOn('02'), { tasks: 3 });
  await ran(begun);
  const page = await begun.anna.open(begun.path, { width, height: 900 });
  await page.getByRole('button', { name: 'Show what failed' }).click();
  await panel(page).getByText('ValueError: chunk 0/0 is damaged').first().waitFor();
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(over).toBeLessThanOrEqual(0);
  await looksWell(page, `workflow-${width}`);
});
