/** The workflow page: arguments, resources and types of a task are edited, kept and never lost. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Project, TaskType, Workflow, WorkflowTask } from '@service/contract';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { goTo, good, looksWell, type Person, person, type ScriptedTask } from './site.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    zarr_url: { type: 'string' },
    diameter: { type: 'number', title: 'Diameter', default: 30, maximum: 200 },
    model: { type: 'string', title: 'Model', default: 'nuclei' },
  },
};

const panel = (page: Page) => page.getByRole('region', { name: 'Selected task' });
const tab = (page: Page, name: string) => panel(page).getByRole('tab', { name: new RegExp(`^${name}`) });
const field = (page: Page, name: string) => panel(page).getByRole('textbox', { name, exact: true });
const task = (page: Page, name: string) =>
  page.getByRole('region', { name: 'Tasks of this workflow' }).getByRole('listitem').filter({ hasText: name });
const save = (page: Page) => panel(page).getByRole('button', { name: 'Save', exact: true });
const question = (page: Page) => page.getByRole('dialog', { name: 'Save your changes?' });

interface Place {
  anna: Person;
  project: Project;
  workflow: Workflow;
  path: string;
  saved: (index?: number) => Promise<WorkflowTask>;
}

async function begin(
  fields: ScriptedTask = { schema: SCHEMA },
  args: object = { args_parallel: { diameter: 30, model: 'nuclei' } },
): Promise<Place> {
  const anna = await person({ name: 'anna' });
  const project = await anna.project('Screen 7');
  const [first, second] = await Promise.all([
    anna.task({ name: 'Segment', ...fields }),
    anna.task({ name: 'Measure' }),
  ]);
  const workflow = await anna.workflow(project, 'Nuclei', [
    { task: first, ...args },
    { task: second, args_parallel: {} },
  ]);
  return {
    anna,
    project,
    workflow,
    path: `/v2/projects/${project.id}/workflows/${workflow.id}`,
    saved: (index = 0) => {
      const { id } = workflow.task_list[index]!;
      return good(anna.client.get(`/api/v2/project/${project.id}/workflow/${workflow.id}/wftask/${id}/`));
    },
  };
}

const patch = ({ anna, project, workflow }: Place, body: object) =>
  good(
    anna.client.patch(
      `/api/v2/project/${project.id}/workflow/${workflow.id}/wftask/${workflow.task_list[0]!.id}/`,
      body,
    ),
  );

test('arguments are shown, saved and there again after a reload', async () => {
  const place = await begin();
  const page = await place.anna.open(place.path);
  await expect.poll(() => field(page, 'Diameter').inputValue()).toBe('30');
  expect(await save(page).getAttribute('aria-disabled')).toBe('true');
  await field(page, 'Diameter').fill('42.50');
  await looksWell(page, 'workflow-arguments');
  await save(page).click();
  await page.getByRole('status').filter({ hasText: 'The arguments of Segment are saved.' }).waitFor();
  await expect.poll(() => save(page).getAttribute('aria-disabled')).toBe('true');
  expect((await place.saved()).args_parallel).toEqual({ diameter: 42.5, model: 'nuclei' });
  await goTo(page, place.path);
  await expect.poll(() => field(page, 'Diameter').inputValue()).toBe('42.50');
});

/** As in the threshold segmentation of fractal-tasks-core. */
const SEGMENTATION = {
  type: 'object',
  required: ['zarr_url', 'channel'],
  properties: {
    zarr_url: { type: 'string' },
    channel: {
      title: 'Channel',
      type: 'object',
      required: ['identifier'],
      properties: {
        mode: { title: 'Mode', enum: ['label', 'wavelength_id', 'index'], default: 'label' },
        identifier: { title: 'Identifier', type: 'string' },
      },
    },
    input_roi_table: { title: 'Input ROI table', type: 'string', default: 'FOV_ROI_table' },
    method: {
      title: 'Segmentation method',
      default: { method: 'Otsu' },
      discriminator: { propertyName: 'method' },
      oneOf: [
        { title: 'OtsuConfiguration', type: 'object', properties: { method: { const: 'Otsu', title: 'Method' } } },
        {
          title: 'SimpleThresholdConfiguration',
          type: 'object',
          properties: {
            method: { const: 'Simple Threshold', title: 'Method' },
            threshold: { type: 'number', title: 'Threshold' },
          },
        },
      ],
    },
  },
};

test('a wrong channel name is corrected by what the images of the dataset have', async () => {
  const args = { channel: { mode: 'label', identifier: 'DPI' }, method: { method: 'Otsu' } };
  const place = await begin({ schema: SEGMENTATION }, { args_parallel: args });
  const { anna, project } = place;
  const dataset = await anna.dataset(project, 'Plate', ['plate.zarr/B/03/0']);
  const image = join(dataset.zarr_dir, 'plate.zarr/B/03/0');
  mkdirSync(join(image, 'tables/FOV_ROI_table'), { recursive: true });
  const channels = [
    { label: 'DAPI', wavelength_id: 'A01_C01' },
    { label: 'Tubulin', wavelength_id: 'A02_C02' },
  ];
  writeFileSync(join(image, '.zattrs'), JSON.stringify({ omero: { channels } }));
  writeFileSync(join(image, 'tables/.zattrs'), JSON.stringify({ tables: ['FOV_ROI_table'] }));
  const page = await anna.open(`${place.path}?dataset=${dataset.id}`);
  await panel(page).getByText('No channel “DPI” in this dataset.').waitFor();
  const channel = panel(page).getByRole('combobox', { name: 'Identifier' });
  await channel.click();
  await panel(page).getByRole('option', { name: 'Tubulin A02_C02' }).waitFor();
  await looksWell(page, 'workflow-suggestions');
  await panel(page).getByRole('option', { name: 'DAPI A01_C01' }).click();
  await panel(page).getByText('No channel “DPI” in this dataset.').waitFor({ state: 'detached' });
  const table = panel(page).getByRole('combobox', { name: 'Input ROI table' });
  expect(await table.getAttribute('placeholder')).toBe('FOV_ROI_table');
  await save(page).click();
  await page.getByRole('status').filter({ hasText: 'The arguments of Segment are saved.' }).waitFor();
  expect((await place.saved()).args_parallel).toEqual({ ...args, channel: { mode: 'label', identifier: 'DAPI' } });
});

test('label images that an earlier task will make are offered before there are any', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project('Screen 7');
  const schema = (name: string, title: string) => ({
    type: 'object',
    properties: { zarr_url: { type: 'string' }, [name]: { type: 'string', title } },
  });
  const [segment, measure] = await Promise.all([
    anna.task({ name: 'Segment', schema: schema('output_label_name', 'Output label') }),
    anna.task({ name: 'Measure', schema: schema('input_label_name', 'Label image') }),
  ]);
  const workflow = await anna.workflow(project, 'Nuclei', [
    { task: segment, args_parallel: { output_label_name: 'nuclei' } },
    { task: measure },
  ]);
  const page = await anna.open(`/v2/projects/${project.id}/workflows/${workflow.id}?task=${workflow.task_list[1]!.id}`);
  const label = panel(page).getByRole('combobox', { name: 'Label image' });
  await label.click();
  await panel(page).getByRole('option', { name: 'nuclei from task 1' }).click();
  expect(await label.inputValue()).toBe('nuclei');
});

test('what is typed back is no change', async () => {
  const place = await begin();
  const page = await place.anna.open(place.path);
  await field(page, 'Diameter').fill('31');
  await expect.poll(() => save(page).getAttribute('aria-disabled')).toBe('false');
  await field(page, 'Diameter').fill('30');
  await expect.poll(() => save(page).getAttribute('aria-disabled')).toBe('true');
  await task(page, 'Measure').getByRole('link').click();
  await panel(page).getByRole('heading', { name: 'Measure' }).waitFor();
  expect(await question(page).count()).toBe(0);
});

test('arguments that are not valid can be saved', async () => {
  const place = await begin();
  const page = await place.anna.open(place.path);
  await field(page, 'Diameter').fill('500');
  await panel(page).getByText('Some arguments need attention.').waitFor();
  await save(page).click();
  await expect.poll(async () => (await place.saved()).args_parallel).toMatchObject({ diameter: 500 });
  await goTo(page, place.path);
  await panel(page).getByText('Some arguments need attention.').waitFor();
});

test('defaults that are not saved yet do not stand in the way', async () => {
  const place = await begin({ schema: SCHEMA }, {});
  const page = await place.anna.open(place.path);
  await panel(page).getByText('Defaults not saved yet.').waitFor();
  await task(page, 'Measure').getByRole('link').click();
  await panel(page).getByRole('heading', { name: 'Measure' }).waitFor();
  await task(page, 'Segment').getByRole('link').click();
  await save(page).click();
  await expect.poll(async () => (await place.saved()).args_parallel).toEqual({ diameter: 30, model: 'nuclei' });
});

test('edits ask before a switch of task, tab or page, and go on after the answer', async () => {
  const place = await begin();
  const page = await place.anna.open(place.path);

  await field(page, 'Diameter').fill('1');
  await task(page, 'Measure').getByRole('link').click();
  await expect.poll(() => question(page).textContent()).toContain('You changed the arguments of Segment.');
  await looksWell(page, 'workflow-unsaved');
  await question(page).getByRole('button', { name: 'Keep editing' }).click();
  await expect.poll(() => field(page, 'Diameter').inputValue()).toBe('1');

  await task(page, 'Measure').getByRole('link').click();
  await question(page).getByRole('button', { name: 'Save' }).click();
  await panel(page).getByRole('heading', { name: 'Measure' }).waitFor();
  expect((await place.saved()).args_parallel).toMatchObject({ diameter: 1 });

  await task(page, 'Segment').getByRole('link').click();
  await field(page, 'Diameter').fill('2');
  await tab(page, 'Info').click();
  await question(page).getByRole('button', { name: 'Discard' }).click();
  await panel(page).getByRole('button', { name: 'Edit alias' }).waitFor();
  expect((await place.saved()).args_parallel).toMatchObject({ diameter: 1 });

  await tab(page, 'Arguments').click();
  await expect.poll(() => field(page, 'Diameter').inputValue()).toBe('1');
  await field(page, 'Diameter').fill('3');
  await page.getByRole('link', { name: 'Projects' }).first().click();
  await question(page).getByRole('button', { name: 'Save' }).click();
  await page.waitForURL('**/v2/projects');
  expect((await place.saved()).args_parallel).toMatchObject({ diameter: 3 });
});

test('edits ask before a job is started', async () => {
  const place = await begin();
  await place.anna.dataset(place.project, 'Plate', ['a/0']);
  const page = await place.anna.open(place.path);
  await field(page, 'Diameter').fill('1');
  await page.getByRole('region', { name: 'Run', exact: true }).getByRole('button', { name: 'Run' }).click();
  await question(page).getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('dialog').filter({ hasNotText: 'Save your changes?' }).waitFor();
  expect((await place.saved()).args_parallel).toMatchObject({ diameter: 30 });
});

test('edits survive a closed page, and say when the saved values changed since', async () => {
  const place = await begin();
  const page = await place.anna.open(place.path);
  await field(page, 'Diameter').fill('77');
  await expect.poll(() => save(page).getAttribute('aria-disabled')).toBe('false');
  await goTo(page, place.path);
  await panel(page).getByText('You have unsaved changes from').waitFor();
  await expect.poll(() => field(page, 'Diameter').inputValue()).toBe('30');
  await patch(place, { args_parallel: { diameter: 5, model: 'nuclei' } });
  await goTo(page, place.path);
  await panel(page).getByText('The saved version has changed since then.').waitFor();
  await looksWell(page, 'workflow-draft');
  await panel(page).getByRole('button', { name: 'Restore draft' }).click();
  await expect.poll(() => field(page, 'Diameter').inputValue()).toBe('77');
  await save(page).click();
  await expect.poll(async () => (await place.saved()).args_parallel).toMatchObject({ diameter: 77 });
  await goTo(page, place.path);
  await expect.poll(() => field(page, 'Diameter').inputValue()).toBe('77');
  expect(await panel(page).getByText('You have unsaved changes from').count()).toBe(0);
});

test('of two who edit the same nobody is overwritten unasked', async () => {
  const place = await begin();
  const page = await place.anna.open(place.path);
  await field(page, 'Diameter').fill('1');
  await patch(place, { args_parallel: { diameter: 99, model: 'cyto' } });
  await save(page).click();
  await panel(page).getByText('Someone else changed this task.').waitFor();
  expect((await place.saved()).args_parallel).toMatchObject({ diameter: 99 });
  await looksWell(page, 'workflow-overtaken');
  await panel(page).getByRole('button', { name: 'Look' }).click();
  const theirs = page.getByRole('dialog', { name: 'Saved version' });
  await expect.poll(() => theirs.getByRole('textbox', { name: 'Model' }).inputValue()).toBe('cyto');
  await theirs.getByRole('button', { name: 'Back to my changes' }).click();
  await panel(page).getByRole('button', { name: 'Overwrite' }).click();
  await expect.poll(async () => (await place.saved()).args_parallel).toEqual({ diameter: 1, model: 'nuclei' });

  await field(page, 'Diameter').fill('2');
  await patch(place, { args_parallel: { diameter: 98, model: 'cyto' } });
  await save(page).click();
  await panel(page).getByRole('button', { name: 'Use saved version' }).click();
  await expect.poll(() => field(page, 'Diameter').inputValue()).toBe('98');
  await expect.poll(() => save(page).getAttribute('aria-disabled')).toBe('true');
});

test('a task without a schema: names and values of any kind', async () => {
  const place = await begin({}, { args_parallel: {} });
  const page = await place.anna.open(place.path);
  const group = panel(page).getByRole('group', { name: 'Arguments' });
  await group.getByRole('button', { name: 'Add to Arguments' }).click();
  await group.getByText('Enter a name.').waitFor();
  await save(page).click();
  await panel(page).getByText('A field has no valid value yet.').waitFor();
  await group.getByRole('textbox', { name: 'Name of new entry of Arguments' }).fill('channel');
  await group.getByRole('textbox', { name: 'Value of channel' }).fill('DAPI');
  await group.getByRole('button', { name: 'Add to Arguments' }).click();
  await group.getByRole('textbox', { name: 'Name of new entry of Arguments' }).fill('channel');
  await group.getByText('“channel” exists already. Use another name.').waitFor();
  await group.getByRole('textbox', { name: 'Name of channel' }).nth(1).fill('sizes');
  await group.getByRole('combobox', { name: 'Type of sizes' }).selectOption('array');
  await group.getByRole('button', { name: 'Add to sizes' }).click();
  await group.getByRole('combobox', { name: 'Type of sizes 1' }).selectOption('number');
  await group.getByRole('textbox', { name: 'Value of sizes 1' }).fill('1e3');
  await save(page).click();
  await expect.poll(async () => (await place.saved()).args_parallel).toEqual({ channel: 'DAPI', sizes: [1000] });
  await goTo(page, place.path);
  await expect.poll(() => field(page, 'Value of sizes 1').inputValue()).toBe('1e3');
  await looksWell(page, 'workflow-free-form');
});

test('the resources of a compound task are two blocks', async () => {
  const place = await begin({ type: 'compound' }, {});
  const page = await place.anna.open(place.path);
  await tab(page, 'Resources').click();
  const compute = panel(page).getByRole('group', { name: 'Compute' });
  await compute.getByRole('button', { name: 'Add to Compute' }).click();
  await save(page).click();
  await panel(page).getByText('Some names or values are not complete.').waitFor();
  await compute.getByRole('textbox', { name: 'Name of new entry of Compute' }).fill('mem');
  await compute.getByRole('combobox', { name: 'Type of mem' }).selectOption('number');
  await compute.getByRole('textbox', { name: 'Value of mem' }).fill('4000');
  await save(page).click();
  await page.getByRole('status').filter({ hasText: 'The resources of Segment are saved.' }).waitFor();
  expect(await place.saved()).toMatchObject({ meta_parallel: { mem: 4000 }, meta_non_parallel: {} });
  await goTo(page, `${place.path}?tab=resources`);
  await expect.poll(() => field(page, 'Value of mem').inputValue()).toBe('4000');
  expect(await panel(page).getByRole('group', { name: 'Init resources' }).count()).toBe(1);
  await looksWell(page, 'workflow-resources');
});

test.each<[TaskType, boolean]>([
  ['parallel', true],
  ['compound', false],
  ['non_parallel', true],
])('arguments go to a file and come back: %s, schema: %s', async (type, hasSchema) => {
  const blocks = {
    ...(type === 'non_parallel' ? {} : { args_parallel: { diameter: 12 } }),
    ...(type === 'parallel' ? {} : { args_non_parallel: { diameter: 13 } }),
  };
  const place = await begin({ type, ...(hasSchema ? { schema: SCHEMA, schemaNonParallel: SCHEMA } : {}) }, blocks);
  const page = await place.anna.open(place.path);
  const more = panel(page).getByRole('button', { name: 'More about task 1' });
  await more.click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    panel(page).getByRole('menuitem', { name: 'Export arguments' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('args-segment.json');
  const file = join(place.anna.folder, 'args.json');
  await download.saveAs(file);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject(blocks);

  await patch(place, Object.fromEntries(Object.keys(blocks).map((name) => [name, { diameter: 1 }])));
  await goTo(page, place.path);
  await more.click();
  await panel(page).getByRole('menuitem', { name: 'Import arguments' }).click();
  const dialog = page.getByRole('dialog', { name: 'Import arguments' });
  const broken = join(place.anna.folder, 'broken.json');
  writeFileSync(broken, '{"args_parallel": ');
  await dialog.getByLabel('File with arguments').setInputFiles(broken);
  await dialog.getByText('This file is not JSON.').waitFor();
  await dialog.getByLabel('File with arguments').setInputFiles(file);
  await dialog.getByRole('button', { name: 'Import and save' }).click();
  await expect.poll(() => dialog.count()).toBe(0);
  expect(await place.saved()).toMatchObject(blocks);
  const shown = hasSchema ? field(page, 'Diameter') : field(page, 'Value of diameter').first();
  await expect.poll(() => shown.inputValue()).toBe(type === 'parallel' ? '12' : '13');
});

test('an export asks what becomes of edits that are not saved, and has what is saved then', async () => {
  const place = await begin();
  const page = await place.anna.open(place.path);
  await field(page, 'Diameter').fill('1');
  await panel(page).getByRole('button', { name: 'More about task 1' }).click();
  await panel(page).getByRole('menuitem', { name: 'Export arguments' }).press('Enter');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    question(page).getByRole('button', { name: 'Save' }).click(),
  ]);
  expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toMatchObject({ args_parallel: { diameter: 1 } });
});

test('type filters: names are checked, those of the dataset are offered, one of the same name is replaced', async () => {
  const place = await begin({ input_types: { corrected: true }, output_types: { segmented: true } }, {});
  await place.anna.dataset(place.project, 'Plate', [{ zarr_url: 'a/0', types: { is_3D: true } }]);
  const page = await place.anna.open(place.path);
  await tab(page, 'Types').click();
  await panel(page).getByRole('list', { name: 'Input types' }).getByText('corrected').waitFor();
  await panel(page).getByRole('list', { name: 'Output types' }).getByText('segmented').waitFor();
  await panel(page).getByRole('button', { name: 'Add type', exact: true }).click();
  await save(page).click();
  await panel(page).getByText('Enter a name.').waitFor();
  await field(page, 'Type 1').fill('corrected');
  await panel(page).getByText('The task decides about “corrected” itself.').waitFor();
  await field(page, 'Type 1').fill('is_3D');
  await panel(page).getByRole('button', { name: 'From the dataset' }).click();
  await panel(page).getByRole('menuitem', { name: 'is_3D: False' }).click();
  await looksWell(page, 'workflow-types');
  await tab(page, 'Arguments').click();
  await expect.poll(() => question(page).textContent()).toContain('the types of Segment');
  await question(page).getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await place.saved()).type_filters).toEqual({ is_3D: false });
  await goTo(page, `${place.path}?tab=types`);
  await expect.poll(() => field(page, 'Type 1').inputValue()).toBe('is_3D');
});

test('alias and description of a task are shown in the list', async () => {
  const place = await begin();
  const page = await place.anna.open(place.path);
  await tab(page, 'Info').click();
  await panel(page).getByRole('button', { name: 'Edit alias' }).click();
  await field(page, 'Alias').fill('Find cells');
  await page.keyboard.press('Enter');
  await expect.poll(() => task(page, 'Find cells').count()).toBe(1);
  await panel(page).getByRole('button', { name: 'Edit description' }).click();
  await field(page, 'Description').fill('Good for dense wells');
  await page.keyboard.press('Enter');
  await page.getByRole('status').filter({ hasText: 'The description is saved.' }).waitFor();
  await tab(page, 'Arguments').click();
  await panel(page).getByText('Good for dense wells').waitFor();
  await goTo(page, `${place.path}?tab=info`);
  await panel(page).getByRole('heading', { name: 'Find cells' }).waitFor();
  await looksWell(page, 'workflow-info');
});
