/** What is asked for while a save is under way waits for it, and does not ask to save again. */
import { readFile } from 'node:fs/promises';
import type { Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';

import type { Workflow, WorkflowTask } from '@service/contract';

import { good, person } from './site.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    diameter: { type: 'integer', title: 'Diameter', default: 30 },
    channel: { type: 'string', title: 'Channel', default: 'DAPI' },
  },
};

const SAVED = { diameter: 30, channel: 'DAPI' };

/** Holds the answers of saves back until they are let go; `refuse` answers in the place of the service. */
async function heldSaves(page: Page) {
  const held: Route[] = [];
  await page.route(/\/wftask\/\d+/, async (route) => {
    if (route.request().method() === 'PATCH') held.push(route);
    else await route.continue();
  });
  const next = async () => {
    await expect.poll(() => held.length).toBeGreaterThan(0);
    return held.shift()!;
  };
  return {
    letGo: async () => (await next()).continue(),
    refuse: async () => (await next()).fulfill({ status: 422, json: { detail: 'The disk is full.' } }),
    waiting: () => held.length,
  };
}

async function withEdit() {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const dataset = await anna.dataset(project, 'Plate', ['a.zarr']);
  const [first, second] = [await anna.task({ schema: SCHEMA }), await anna.task({ schema: SCHEMA })];
  const workflow = await anna.workflow(project, 'Nuclei', [
    { task: first, alias: 'First', args_parallel: SAVED },
    { task: second, alias: 'Second', args_parallel: SAVED },
  ]);
  const page = await anna.open(`/v2/projects/${project.id}/workflows/${workflow.id}?dataset=${dataset.id}`);
  const panel = page.getByRole('region', { name: 'Selected task' });
  const saves = await heldSaves(page);
  const edit = async (name: string, value: string) => {
    await panel.getByRole('textbox', { name: new RegExp(`^${name}`) }).fill(value);
    await panel.getByText('Not saved yet.', { exact: true }).waitFor();
  };
  const save = async () => {
    await panel.getByRole('button', { name: 'Save', exact: true }).click();
    await expect.poll(saves.waiting).toBe(1);
  };
  const task = async () => {
    const path = `/api/v2/project/${project.id}/workflow/${workflow.id}/`;
    const { task_list } = await good<Workflow & { task_list: WorkflowTask[] }>(anna.client.get(path));
    return task_list[0]!;
  };
  const stored = async () => (await task()).args_parallel;
  return { page, panel, saves, edit, save, task, stored, dialog: page.getByRole('dialog') };
}

const QUIET_MS = 600;

test('Run waits for a save under way, and opens when it is done', async () => {
  const { page, saves, edit, save, stored, dialog } = await withEdit();
  await edit('Diameter', '45');
  await save();
  await page
    .getByRole('region', { name: 'Run', exact: true })
    .getByRole('button', { name: 'Run', exact: true })
    .click();
  await page.waitForTimeout(QUIET_MS);
  expect(await dialog.count()).toBe(0);
  await saves.letGo();
  await dialog.getByRole('heading', { name: 'Run Nuclei' }).waitFor();
  expect(await stored()).toMatchObject({ diameter: 45 });
});

test('another task is shown when the save is done, and no question is asked', async () => {
  const { page, panel, saves, edit, save, stored, dialog } = await withEdit();
  await edit('Diameter', '45');
  await save();
  await page
    .getByRole('region', { name: 'Tasks of this workflow' })
    .getByRole('link', { name: /Second/ })
    .click();
  await page.waitForTimeout(QUIET_MS);
  expect(await dialog.count()).toBe(0);
  await panel.getByRole('heading', { name: 'First' }).waitFor();
  await saves.letGo();
  await panel.getByRole('heading', { name: 'Second' }).waitFor();
  expect(await dialog.count()).toBe(0);
  expect(await stored()).toMatchObject({ diameter: 45 });
});

test('a link to another page is followed when the save is done', async () => {
  const { page, saves, edit, save, stored, dialog } = await withEdit();
  await edit('Diameter', '45');
  await save();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Jobs' }).click();
  await page.waitForTimeout(QUIET_MS);
  expect(await dialog.count()).toBe(0);
  await saves.letGo();
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  expect(await stored()).toMatchObject({ diameter: 45 });
});

test('after a save that was refused the question is asked, with the edits still there', async () => {
  const { page, panel, saves, edit, save, dialog } = await withEdit();
  await edit('Diameter', '45');
  await save();
  await page
    .getByRole('region', { name: 'Run', exact: true })
    .getByRole('button', { name: 'Run', exact: true })
    .click();
  await saves.refuse();
  await dialog.getByRole('heading', { name: 'Save your changes?' }).waitFor();
  await dialog.getByRole('button', { name: 'Keep editing' }).click();
  await panel.getByText('The disk is full.').waitFor();
  expect(await panel.getByRole('textbox', { name: /^Diameter/ }).inputValue()).toBe('45');
});

test('what is typed while a save is under way is asked about, and saved after it', async () => {
  const { page, panel, saves, edit, save, stored, dialog } = await withEdit();
  await edit('Diameter', '45');
  await save();
  await panel.getByRole('textbox', { name: /^Channel/ }).fill('GFP');
  await page
    .getByRole('region', { name: 'Run', exact: true })
    .getByRole('button', { name: 'Run', exact: true })
    .click();
  await saves.letGo();
  await dialog.getByRole('heading', { name: 'Save your changes?' }).waitFor();
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await saves.letGo();
  await dialog.getByRole('heading', { name: 'Run Nuclei' }).waitFor();
  expect(await stored()).toMatchObject({ diameter: 45, channel: 'GFP' });
});

test('an export waits for a save under way, and has what was saved', async () => {
  const { page, panel, saves, edit, save } = await withEdit();
  await edit('Diameter', '45');
  await save();
  const exported = page.waitForEvent('download');
  await panel.getByRole('button', { name: 'More about task 1' }).click();
  await panel.getByRole('menuitem', { name: 'Export arguments' }).press('Enter');
  await saves.letGo();
  const file = await readFile(await (await exported).path(), 'utf8');
  expect(JSON.parse(file)).toMatchObject({ args_parallel: { diameter: 45 } });
});

const inField = async (page: Page, name: 'alias' | 'description', text: string) => {
  const panel = page.getByRole('region', { name: 'Selected task' });
  await panel.getByRole('button', { name: `Edit ${name}` }).click();
  await panel.getByRole('textbox', { name: new RegExp(`^${name}$`, 'i') }).fill(text);
};

test('a typed alias and description are asked about before another tab or task is shown', async () => {
  const { page, panel, saves, dialog, task } = await withEdit();
  await panel.getByRole('tab', { name: 'Info' }).click();
  await inField(page, 'alias', 'Renamed');
  await panel.getByRole('tab', { name: 'Types' }).click();
  await dialog.getByText('You changed the alias of First.').waitFor();
  await dialog.getByRole('button', { name: 'Keep editing' }).click();
  expect(await panel.getByRole('textbox', { name: 'Alias' }).inputValue()).toBe('Renamed');

  await inField(page, 'description', 'Good for dense wells');
  await page
    .getByRole('region', { name: 'Tasks of this workflow' })
    .getByRole('link', { name: /Second/ })
    .click();
  await dialog.getByText('You changed the alias of First and the description of First.').waitFor();
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await saves.letGo();
  await saves.letGo();
  await panel.getByRole('heading', { name: 'Second' }).waitFor();
  expect(await task()).toMatchObject({ alias: 'Renamed', description: 'Good for dense wells' });
});

test('a task is duplicated when the alias is saved, and has it', async () => {
  const { page, panel, saves, dialog } = await withEdit();
  await panel.getByRole('tab', { name: 'Info' }).click();
  await inField(page, 'alias', 'Renamed');
  await page.keyboard.press('Enter');
  await expect.poll(saves.waiting).toBe(1);
  await panel.getByRole('button', { name: 'Duplicate task' }).click();
  await page.waitForTimeout(QUIET_MS);
  const tasks = page.getByRole('region', { name: 'Tasks of this workflow' });
  expect(await tasks.getByRole('link', { name: /First|Renamed/ }).count()).toBe(1);
  await saves.letGo();
  await page.getByRole('status').filter({ hasText: 'Renamed is duplicated.' }).waitFor();
  expect(await dialog.count()).toBe(0);
});
