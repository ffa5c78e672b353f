import { readFile } from 'node:fs/promises';
import type { Route } from 'playwright-core';
import { expect, test } from 'vitest';

import type { Template } from '@service/contract';

import { goTo, good, looksWell, person, type Person } from './site.ts';

const jsonFile = (content: unknown) => ({
  name: 'template.json',
  mimeType: 'application/json',
  buffer: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
});

async function template(owner: Person, name: string, ...versions: number[]): Promise<Template[]> {
  const project = await owner.project();
  const workflow = await owner.workflow(project, name, [{ task: await owner.task({ name: `Task of ${name}` }) }]);
  const path = `/api/v2/workflow-template/?workflow_id=${workflow.id}`;
  const made: Template[] = [];
  for (const version of versions)
    made.push(await good(owner.client.post(path, { name, version, description: `About ${name}` })));
  return made;
}

test('a page without templates says what they are for', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/v2/templates?is_owner=true');
  await page.getByRole('heading', { name: 'No template matches' }).waitFor();
  await looksWell(page, 'templates-none');
});

test('template: info, edit, download, delete', async () => {
  const anna = await person({ name: 'anna' });
  const [first, second] = await template(anna, 'Nuclei', 1, 2);
  const page = await anna.open('/v2/templates?is_owner=true');
  const version = page.getByRole('combobox', { name: 'Version of Nuclei' });
  const menu = async (item: string) => {
    await page.getByRole('button', { name: 'More about Nuclei' }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  expect(await version.getByRole('option').allInnerTexts()).toEqual(['2', '1']);
  await looksWell(page, 'templates');

  await menu('Info');
  const dialog = page.getByRole('dialog', { name: 'Nuclei, version 2' });
  await dialog.getByText('About Nuclei').waitFor();
  await dialog.getByText('Task of Nuclei').first().waitFor();
  await looksWell(page, 'template-info');
  await page.keyboard.press('Escape');

  await menu('Edit');
  const save = page.getByRole('button', { name: 'Save' });
  await expect.poll(() => page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('About Nuclei');
  expect(await save.isDisabled()).toBe(true);
  await page.getByRole('textbox', { name: 'Description' }).fill('Better words');
  await save.click();
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  const path = `/api/v2/workflow-template/${second!.id}/`;
  expect((await good<Template>(anna.client.get(path))).description).toBe('Better words');

  await version.selectOption('1');
  const [download] = await Promise.all([page.waitForEvent('download'), menu('Download')]);
  expect(download.suggestedFilename()).toMatch(new RegExp(`^template-${first!.id}-\\d+\\.json$`));
  const saved = JSON.parse(await readFile(await download.path(), 'utf8')) as Template;
  expect(saved).toMatchObject({ name: 'Nuclei', version: 1, description: 'About Nuclei' });

  await menu('Delete');
  await page.getByRole('dialog', { name: 'Delete Nuclei, version 1?' }).waitFor();
  await page.getByRole('button', { name: 'Delete template' }).click();
  await page.getByText('Nuclei, version 1 deleted.', { exact: true }).waitFor();
  await expect.poll(() => version.count()).toBe(0);
  expect((await anna.client.get(`/api/v2/workflow-template/${first!.id}/`)).status).toBe(404);
});

test('template: import of a template, a workflow, an invalid file and a version that is there', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/v2/templates');
  const data = {
    name: 'W',
    task_list: [{ task: { pkg_name: 'p', name: 't', version: '1' }, args_parallel: { a: 1 } }],
  };
  const name = page.getByRole('dialog').getByRole('textbox', { name: 'Name' });
  const send = page.getByRole('button', { name: 'Import template' }).last();

  await page.getByRole('button', { name: 'Import template' }).click();
  await send.click();
  await page.getByText('Choose a file first.').waitFor();
  await page.getByLabel('File').setInputFiles(jsonFile('nonsense'));
  await page.getByText('This file is not valid JSON').waitFor();
  await page.getByLabel('File').setInputFiles(jsonFile({ images: [] }));
  await page.getByText('This file was not exported from here.').waitFor();
  await page.getByLabel('File').setInputFiles(jsonFile({ name: 'T', version: 4, description: 'd', data }));
  await expect.poll(() => name.inputValue()).toBe('T');
  await looksWell(page, 'template-import');
  await send.click();
  await page.waitForURL(/template_id=\d+/);
  await page.getByRole('cell', { name: 'T', exact: true }).waitFor();

  await page.getByRole('button', { name: 'Import template' }).click();
  await page.getByLabel('File').setInputFiles(jsonFile({ name: 'T', version: 4, data }));
  await send.click();
  await page.getByText('You have a template with this name and version.').waitFor();
  await page.getByLabel('File').setInputFiles(jsonFile(data));
  await page.getByText('It becomes a template.').waitFor();
  await page.getByRole('textbox', { name: 'Version' }).last().fill('0');
  await page.getByText('Enter a whole number from 1 on.').waitFor();
  await page.getByRole('textbox', { name: 'Version' }).last().fill('5');
  await name.fill('From a workflow');
  await send.click();
  await page.getByRole('cell', { name: 'From a workflow', exact: true }).waitFor();
  const id = new URL(page.url()).searchParams.get('template_id');
  const made = await good<Template>(anna.client.get(`/api/v2/workflow-template/${id}/`));
  expect([made.name, made.version, made.data.task_list.length]).toEqual(['From a workflow', 5, 1]);
});

test('template: filters are in the address, without entries in the history', async () => {
  const anna = await person({ name: 'anna' });
  await template(anna, 'Nuclei', 1);
  await template(anna, 'Golgi', 1, 2);
  const page = await anna.open('/v2/projects');
  await page.getByRole('link', { name: 'Templates' }).first().click();
  await page.getByRole('checkbox', { name: 'Only mine' }).check();
  const rows = () => page.getByRole('cell', { name: /^(Nuclei|Golgi)$/ }).allInnerTexts();
  await expect.poll(rows).toEqual(['Golgi', 'Nuclei']);
  await page.getByRole('searchbox', { name: 'Search by name' }).fill('nuc');
  await expect.poll(rows).toEqual(['Nuclei']);
  await expect.poll(() => page.url()).toContain('name=nuc');
  await page.getByRole('searchbox', { name: 'Search by name' }).fill('');
  await page.getByRole('textbox', { name: 'Version' }).fill('2');
  await expect.poll(rows).toEqual(['Golgi']);
  await page.getByRole('textbox', { name: 'Version' }).fill('77');
  await page.getByRole('heading', { name: 'No template matches' }).waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await expect.poll(() => new URL(page.url()).search).toBe('');
  await page.goBack();
  await page.waitForURL('**/v2/projects');

  await goTo(page, '/v2/templates?is_owner=true');
  await page.route('**/api/v2/workflow-template?**', (route) =>
    route.fulfill({ status: 422, json: { detail: 'page_size must be 1 or more.' } }),
  );
  await page.getByRole('searchbox', { name: 'Search by name' }).fill('x');
  await page.getByRole('alert').getByText('page_size must be 1 or more.').waitFor();
});

test('template: use it, from its page and from a project', async () => {
  const anna = await person({ name: 'anna' });
  const [made] = await template(anna, 'Nuclei', 1);
  const project = await anna.project('Screen 7');
  const page = await anna.open(`/v2/templates?template_id=${made!.id}`);
  await page.getByRole('button', { name: 'Use Nuclei' }).click();
  await page.getByRole('button', { name: /^Project: / }).click();
  await page.getByRole('option', { name: 'Screen 7' }).click();
  await looksWell(page, 'template-use');
  await page.getByRole('button', { name: 'Create workflow' }).click();
  await page.waitForURL(new RegExp(`/v2/projects/${project.id}/workflows/\\d+$`));

  await goTo(page, `/v2/projects/${project.id}`);
  await page.getByRole('button', { name: 'New workflow' }).click();
  await page.getByRole('button', { name: 'From a template' }).click();
  // the older question is refused after the newer one was answered
  const older: Route[] = [];
  await page.route(/workflow-template\/?\?(?!.*is_owner)/, (route) => void older.push(route));
  await page.getByRole('searchbox', { name: 'Search by name' }).fill('Nuclei');
  await expect.poll(() => older.length).toBe(1);
  await page.getByRole('checkbox', { name: 'Only mine' }).check();
  await page.getByRole('button', { name: 'Choose Nuclei, version 1' }).waitFor();
  const refused = page.waitForResponse(/workflow-template\/?\?(?!.*is_owner)/);
  await older[0]!.fulfill({ status: 422, json: { detail: 'Too late' } });
  await (await refused).finished();
  await page.getByRole('button', { name: 'Choose Nuclei, version 1' }).click();
  await page.getByText('About Nuclei').waitFor();
  await page.getByRole('textbox', { name: 'Name' }).last().fill('Mine');
  await looksWell(page, 'workflow-from-template');
  await page.getByRole('button', { name: 'Use template' }).click();
  await page.waitForURL(new RegExp(`/v2/projects/${project.id}/workflows/\\d+$`));
  const list = await good<{ name: string; template_id: number }[]>(
    anna.client.get(`/api/v2/project/${project.id}/workflow/?slim=true`),
  );
  expect(list.map(({ name, template_id }) => [name, template_id])).toEqual([
    ['Mine', made!.id],
    ['Nuclei', made!.id],
  ]);
});

test('template: versions that are not here are chosen, and only those are sent', async () => {
  const tom = await person({ name: 'tom' });
  const there = await tom.task({ name: 'Blur', version: '2.0.0' });
  const project = await tom.project('Screen 7');
  const task_list = ['2.0.0', '1.0.0'].map((version) => ({ task: { pkg_name: 'Blur', name: 'Blur', version } }));
  const made = await good<Template>(
    tom.client.post('/api/v2/workflow-template/import/', { name: 'T', version: 1, data: { name: 'T', task_list } }),
  );
  const page = await tom.open(`/v2/templates?template_id=${made.id}`);
  await page.getByRole('button', { name: 'Use T', exact: true }).click();
  await page.getByRole('button', { name: 'Create workflow' }).click();
  await page.getByRole('button', { name: 'Use the newest of each' }).click();
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.url().includes('import-from-template')),
    page.getByRole('button', { name: 'Create workflow' }).click(),
  ]);
  expect(request.postDataJSON()).toEqual({ override_versions: { 1: '2.0.0' } });
  await page.waitForURL(new RegExp(`/v2/projects/${project.id}/workflows/\\d+$`));
  const [workflow] = await good<{ task_list: { task_id: number }[] }[]>(
    tom.client.get(`/api/v2/project/${project.id}/workflow/`),
  );
  expect(workflow!.task_list.map(({ task_id }) => task_id)).toEqual([there.id, there.id]);
});
