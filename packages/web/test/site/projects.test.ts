import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import type { Dataset, Project, Workflow } from '@service/contract';

import { admin, goTo, good, looksWell, person, type Person } from './site.ts';

const jsonFile = (content: unknown, name = 'file.json') => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
});

const names = (page: Page, table: string, column: RegExp) =>
  page.getByRole('region', { name: table }).getByRole('row').getByRole('link', { name: column }).allInnerTexts();

const nameField = (page: Page) => page.getByRole('dialog').getByRole('textbox', { name: 'Name' });

async function shared(owner: Person, guest: Person, permissions: string, name: string): Promise<Project> {
  const project = await owner.project(name);
  const path = `/api/v2/project/${project.id}`;
  await good(owner.client.post(`${path}/guest/?email=${encodeURIComponent(guest.email)}`, { permissions }));
  await good(guest.client.post(`${path}/access/accept/`, undefined));
  return project;
}

test('somebody without projects is shown how to begin', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/v2/projects');
  await page.getByRole('heading', { name: 'You have no projects yet' }).waitFor();
  await page.getByRole('button', { name: 'Try with the demo plate' }).waitFor();
  expect(await page.getByRole('main').innerText()).toContain(anna.email);
  await looksWell(page, 'projects-empty');
});

test('project: create, duplicate name, edit name and long description, search, star, delete', async () => {
  const anna = await person({ name: 'anna' });
  await anna.project('Screen 7');
  const page = await anna.open('/v2/projects');

  await page.getByRole('button', { name: 'New project' }).click();
  await nameField(page).fill('Screen 7');
  await page.getByRole('button', { name: 'Create project' }).click();
  await page.getByText('There is a project with this name already. Choose another.').waitFor();
  expect(await nameField(page).getAttribute('aria-invalid')).toBe('true');
  await looksWell(page, 'project-new');
  await nameField(page).fill('Screen 8');
  await page.getByRole('button', { name: 'Create project' }).click();
  await page.getByRole('heading', { name: 'Screen 8' }).waitFor();

  const description = `Knock-down of 384 genes in three replicates, ${'stained with DAPI and tubulin, '.repeat(3)}20x.`;
  await page.getByRole('button', { name: 'Edit' }).click();
  await nameField(page).fill('Screen 9');
  await page.getByRole('textbox', { name: 'Description' }).fill(description);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Screen 9' }).waitFor();
  await expect.poll(() => page.getByText(description).count()).toBe(0);
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.getByText(description).waitFor();
  await page.getByRole('button', { name: 'Show less' }).click();
  await expect.poll(() => page.getByText(description).count()).toBe(0);

  await goTo(page, '/v2/projects');
  const list = () => names(page, 'Project list', /^Screen/);
  await expect.poll(list).toEqual(['Screen 9', 'Screen 7']);
  await page.getByRole('button', { name: 'Star Screen 7' }).click();
  await expect.poll(list).toEqual(['Screen 7', 'Screen 9']);
  expect(await page.getByRole('button', { name: 'Star Screen 7' }).getAttribute('aria-pressed')).toBe('true');
  await expect
    .poll(async () => (await good<Project[]>(anna.client.get('/api/v2/project/'))).map(({ is_starred }) => is_starred))
    .toEqual([true, false]);

  await page.getByRole('searchbox', { name: 'Search by name' }).fill('SCREEN 9');
  await expect.poll(list).toEqual(['Screen 9']);
  // the list is filtered at once, its address follows
  await page.waitForURL(/name=SCREEN/);
  await page.reload();
  await page.locator('html[data-ready]').waitFor();
  await expect.poll(list).toEqual(['Screen 9']);
  await page.getByRole('searchbox', { name: 'Search by name' }).fill('nothing like this');
  await page.getByRole('heading', { name: 'No project matches' }).waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect.poll(list).toEqual(['Screen 7', 'Screen 9']);

  await page.getByRole('button', { name: 'More about Screen 9' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByText('Images and other files on disk stay').waitFor();
  await looksWell(page, 'project-delete');
  await page.getByRole('button', { name: 'Delete project' }).click();
  await page.getByText('Screen 9 deleted.', { exact: true }).waitFor();
  await expect.poll(list).toEqual(['Screen 7']);
});

test('what is shared with the reader is told apart, and what may not be done says why', async () => {
  const [anna, tom] = [await person({ name: 'anna' }), await person({ name: 'tom' })];
  const project = await shared(anna, tom, 'r', 'Mitosis atlas');
  await anna.dataset(project, 'Plate 11');
  await anna.workflow(project, 'Nuclei', []);
  const page = await tom.open('/v2/projects?show=shared');
  await page.getByRole('link', { name: 'Mitosis atlas' }).waitFor();
  await page.getByRole('button', { name: 'More about Mitosis atlas' }).click();
  expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(['Info', 'Leave']);
  await page.getByRole('menuitem', { name: 'Info' }).click();
  await page.getByRole('dialog').getByText(anna.email).waitFor();
  await page.keyboard.press('Escape');

  await goTo(page, `/v2/projects/${project.id}`);
  await page.getByText(`Ask ${anna.email} for permission to edit`).waitFor();
  for (const name of ['New dataset', 'New workflow', 'Edit', 'Star Plate 11'])
    expect(await page.getByRole('button', { name }).count(), name).toBe(0);
  await page.getByRole('button', { name: 'More about Nuclei' }).click();
  expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(['Open', 'Jobs', 'Export']);
  await page.keyboard.press('Escape');
  await looksWell(page, 'project-read-only');
  await goTo(page, `/v2/projects/${project.id}/sharing`);
  await page.getByText(`${anna.email} manages sharing.`).waitFor();
});

test('guests begin with what is shared with them, and make nothing', async () => {
  const anna = await person({ name: 'anna' });
  const guest = await person({ name: 'guest' });
  await shared(anna, guest, 'r', 'For guests');
  await good((await admin()).patch(`/auth/users/${guest.id}/`, { is_guest: true }));
  const page = await guest.open('/v2/projects');
  await page.getByRole('link', { name: 'For guests' }).waitFor();
  expect(await page.getByRole('button', { name: /Shared with me/ }).getAttribute('aria-pressed')).toBe('true');
  await page.getByText(/^Guest accounts are read-only/).waitFor();
  expect(await page.getByRole('button', { name: 'New project' }).count()).toBe(0);
  await page.getByRole('button', { name: /^Account of / }).click();
  expect(await page.getByRole('menuitem', { name: 'Test job submission' }).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Try with the demo plate' }).count()).toBe(0);
});

test('dataset: create with default and custom subfolder, import (no file, broken JSON, valid, with new name), star, delete', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project('Screen 7');
  const page = await anna.open(`/v2/projects/${project.id}`);
  const steps = page.getByRole('region', { name: 'First steps' });
  expect(await steps.getByRole('heading').allInnerTexts()).toEqual(['Add a dataset', 'Add a workflow', 'Run it']);
  await looksWell(page, 'project-empty');
  const datasets = () => good<Dataset[]>(anna.client.get(`/api/v2/project/${project.id}/dataset/`));
  const list = () => names(page, 'Datasets', /^Plate/);

  await page.getByRole('button', { name: 'New dataset' }).click();
  await nameField(page).fill('Plate A');
  await page.getByText(`${anna.folder}/fractal/${project.id}_screen_7/‹number›_plate_a`).waitFor();
  await page.getByRole('button', { name: 'Create dataset' }).click();
  await expect.poll(list).toEqual(['Plate A']);
  const [made] = await datasets();
  await page.getByRole('status').getByText(made!.zarr_dir).waitFor();

  await page.getByRole('button', { name: 'New dataset' }).click();
  await nameField(page).fill('Plate B');
  await page.getByText('Storage folder').click();
  await page.getByRole('textbox', { name: 'Folder below it' }).fill('/absolute');
  await page.getByText('without / in front').waitFor();
  await page.getByRole('textbox', { name: 'Folder below it' }).fill('raw/b');
  await page.getByText(`${anna.folder}/raw/b`).waitFor();
  await looksWell(page, 'dataset-new');
  await page.getByRole('button', { name: 'Create dataset' }).click();
  await page.getByRole('status').getByText(`${anna.folder}/raw/b`).waitFor();
  await expect.poll(list).toEqual(['Plate A', 'Plate B']);
  expect((await datasets()).map(({ zarr_dir }) => zarr_dir)).toContain(`${anna.folder}/raw/b`);

  await page.getByRole('button', { name: 'New dataset' }).click();
  await page.getByRole('button', { name: 'From a file' }).click();
  await page.getByRole('button', { name: 'Import dataset' }).click();
  await page.getByText('Choose a file first.').waitFor();
  await page.getByLabel('Exported dataset').setInputFiles(jsonFile('{"name": '));
  await page.getByText('This file is not valid JSON. Line 1').waitFor();
  const images = [{ zarr_url: `${anna.folder}/c/img.zarr`, attributes: { dose: 0.5 } }];
  await page
    .getByLabel('Exported dataset')
    .setInputFiles(jsonFile({ name: 'Plate C', zarr_dir: `${anna.folder}/c`, images }));
  await page.getByText('1 image in').waitFor();
  await looksWell(page, 'dataset-import');
  await page.getByRole('button', { name: 'Import dataset' }).click();
  await expect.poll(list).toContain('Plate C');
  await page.getByRole('button', { name: 'New dataset' }).click();
  await page.getByRole('button', { name: 'From a file' }).click();
  await page
    .getByLabel('Exported dataset')
    .setInputFiles(jsonFile({ name: 'Plate C', zarr_dir: `${anna.folder}/c`, images }));
  await nameField(page).fill('Plate D');
  await page.getByRole('button', { name: 'Import dataset' }).click();
  await expect.poll(list).toContain('Plate D');
  expect((await datasets()).find(({ name }) => name === 'Plate D')!.image_count).toBe(1);

  await page.getByRole('button', { name: 'Star Plate C' }).click();
  await expect.poll(async () => (await list())[0]).toBe('Plate C');
  await expect.poll(async () => (await datasets())[0]!.name).toBe('Plate C');

  await page.getByRole('button', { name: 'More about Plate D' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByText('Images on disk stay').waitFor();
  await page.getByRole('button', { name: 'Delete dataset' }).click();
  await page.getByText('Plate D deleted.', { exact: true }).waitFor();
  await expect.poll(list).not.toContain('Plate D');

  await page.getByRole('searchbox', { name: 'Search datasets by name' }).fill('plate c');
  await expect.poll(list).toEqual(['Plate C']);
});

test('workflow: create, import broken/unknown versions/valid/with other name, version choice incl. older and core, duplicate twice, delete', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project('Screen 7');
  const older = await anna.task({ name: 'Blur', version: '1.0.0' });
  const newer = await anna.task({ name: 'Blur', version: '3.0.0' });
  await anna.task({ name: 'Blur', version: '4.0.0' });
  await good((await admin()).post('/admin/v2/task/make-core/', [older.id, newer.id]));
  const task = { pkg_name: 'Blur', name: 'Blur' };
  const page = await anna.open(`/v2/projects/${project.id}`);
  const back = () => goTo(page, `/v2/projects/${project.id}`);
  const list = () => names(page, 'Workflows', /^W/);
  const workflows = () => good<Workflow[]>(anna.client.get(`/api/v2/project/${project.id}/workflow/`));
  const arrived = () => page.waitForURL(/\/workflows\/\d+$/);
  const choose = async (content: unknown) => {
    await page.getByRole('button', { name: 'New workflow' }).click();
    await page.getByRole('button', { name: 'From a file' }).click();
    await page.getByLabel('Exported workflow').setInputFiles(jsonFile(content));
  };

  await page.getByRole('button', { name: 'New workflow' }).click();
  await nameField(page).fill('W');
  await page.getByRole('button', { name: 'Create workflow' }).click();
  await arrived();

  await back();
  await choose('{"task_list": [');
  await page.getByText('This file is not valid JSON').waitFor();
  await page
    .getByLabel('Exported workflow')
    .setInputFiles(
      jsonFile(
        '{"name": "W", "task_list": [{"task": {"pkg_name": "Blur", "name": "Blur", "version": "1.0.0"}, "args_parallel": {"size": 1.0}}]}',
      ),
    );
  await page.getByRole('button', { name: 'Import workflow' }).click();
  await page.getByText('This project has a workflow with this name. Choose another.').waitFor();
  await nameField(page).fill('W2');
  await page.getByRole('button', { name: 'Import workflow' }).click();
  await arrived();
  const imported = (await workflows()).find(({ name }) => name === 'W2')!;
  expect(imported.task_list[0]!.task_id).toBe(older.id);
  const { text } = await anna.client.raw(`/api/v2/project/${project.id}/workflow/${imported.id}/`, {});
  expect(text).toMatch(/"size":\s*1\.0/);

  await back();
  await choose({
    name: 'W3',
    task_list: [{ task: { ...task, version: '2.0.0' } }, { task: { ...task, version: '1.0.0' } }],
  });
  await page.getByRole('button', { name: 'Import workflow' }).click();
  const version = page.getByRole('combobox', { name: 'Version of Blur, task 1' });
  await version.waitFor();
  const button = page.getByRole('button', { name: 'Import workflow' });
  expect(await button.isDisabled()).toBe(true);
  expect(await version.getByRole('option').allInnerTexts()).toEqual(['Choose a version', '4.0.0', '3.0.0 (core)']);
  await page.getByRole('checkbox', { name: /older/ }).check();
  expect(await version.getByRole('option').allInnerTexts()).toEqual([
    'Choose a version',
    '4.0.0',
    '3.0.0 (core)',
    '1.0.0 (core, older)',
  ]);
  await version.selectOption('1.0.0');
  await looksWell(page, 'workflow-versions');
  await button.click();
  await arrived();
  const chosen = (await workflows()).find(({ name }) => name === 'W3')!;
  expect(chosen.task_list.map(({ task_id }) => task_id)).toEqual([older.id, older.id]);

  await back();
  for (const copy of ['W2_copy', 'W2_copy_1']) {
    await page.getByRole('button', { name: 'More about W2', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    await expect.poll(list).toContain(copy);
  }
  const copied = (await workflows()).find(({ name }) => name === 'W2_copy')!;
  expect(copied.task_list[0]!.args_parallel).toEqual({ size: 1 });

  await page.getByRole('button', { name: 'Star W', exact: true }).click();
  await expect.poll(async () => (await list())[0]).toBe('W');
  await page.getByRole('button', { name: 'More about W2_copy_1' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByText('Datasets and images stay').waitFor();
  await page.getByRole('button', { name: 'Delete workflow' }).click();
  await expect.poll(list).not.toContain('W2_copy_1');
  await looksWell(page, 'project');
});
