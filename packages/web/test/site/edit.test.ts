/** Changing a workflow from its page: tasks, order, versions, templates. */
import type { Task, Template, Workflow } from '@service/contract';
import type { Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';

import { good, goTo, looksWell, type Person, person } from './site.ts';

const dialog = (page: Page) => page.getByRole('dialog');
const pathOf = ({ project_id, id }: Workflow) => `/v2/projects/${project_id}/workflows/${id}`;
const press = (page: Page, name: string) => dialog(page).getByRole('button', { name, exact: true }).click();
const stored = (who: Person, { project_id, id }: Workflow) =>
  good<Workflow>(who.client.get(`/api/v2/project/${project_id}/workflow/${id}/`));
const namesOf = async (who: Person, workflow: Workflow) =>
  (await stored(who, workflow)).task_list.map(({ alias, task }) => alias ?? task.name);

async function withTasks() {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  // names of one's own: other people's tasks are in the table too
  const make = (name: string) => anna.task({ name: `${name} of ${anna.id}` });
  return { anna, project, alpha: await make('Alpha'), beta: await make('Beta'), gamma: await make('Gamma') };
}

const SCHEMA = {
  type: 'object',
  properties: { diameter: { type: 'integer', title: 'Diameter', default: 30 } },
  required: ['diameter'],
};

test('one task, two at once, two after a given task, one at the end', async () => {
  const { anna, project, ...tasks } = await withTasks();
  const workflow = await anna.workflow(project, 'Adding', []);
  const [alpha, beta, gamma] = [tasks.alpha.name, tasks.beta.name, tasks.gamma.name];
  const page = await anna.open(pathOf(workflow));
  const openTable = async () => {
    await page.getByRole('button', { name: 'Add task' }).first().click();
    await dialog(page)
      .getByRole('button', { name: `Add ${alpha}`, exact: true })
      .waitFor();
  };
  const pick = (name: string) =>
    dialog(page)
      .getByRole('checkbox', { name: `Pick ${name}`, exact: true })
      .check();
  const added = async (names: string[]) => {
    await dialog(page).waitFor({ state: 'detached' });
    expect(await namesOf(anna, workflow)).toEqual(names);
    await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor();
  };

  // what is chosen in the panel stays while the dialog is open
  const first = page.getByRole('region', { name: 'Add the first tasks' });
  const ticked = first.getByRole('checkbox', { name: `Pick ${gamma}`, exact: true });
  await ticked.check();
  await openTable();
  await press(page, 'Cancel');
  await dialog(page).waitFor({ state: 'detached' });
  expect(await ticked.isChecked()).toBe(true);

  await openTable();
  await looksWell(page, 'add-tasks');
  await press(page, `Add ${alpha}`);
  await added([alpha]);

  // in the order in which they were ticked
  await openTable();
  await pick(gamma);
  await pick(beta);
  await press(page, 'Add 2 tasks');
  await added([alpha, gamma, beta]);

  await openTable();
  await pick(alpha);
  await pick(beta);
  await dialog(page)
    .getByLabel('Where')
    .selectOption({ label: `After 1. ${alpha}` });
  await press(page, 'Add 2 tasks');
  await added([alpha, alpha, beta, gamma, beta]);

  await openTable();
  await press(page, `Add ${gamma}`);
  await added([alpha, alpha, beta, gamma, beta, gamma]);
});

test('added tasks begin with the defaults of their schemas', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const workflow = await anna.workflow(project, 'Defaults', []);
  const task = await anna.task({ name: `Sized ${anna.id}`, schema: SCHEMA });
  const page = await anna.open(pathOf(workflow));
  await page.getByRole('button', { name: 'Add task' }).first().click();
  await press(page, `Add ${task.name}`);
  await dialog(page).waitFor({ state: 'detached' });
  const [step] = (await stored(anna, workflow)).task_list;
  expect([step!.args_parallel, step!.args_non_parallel]).toEqual([{ diameter: 30 }, null]);
});

test('a task with unsaved edits is duplicated after the question, right behind the original', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const task = await anna.task({ name: 'Segment', schema: SCHEMA });
  const workflow = await anna.workflow(project, 'Copies', [
    {
      task,
      alias: 'Nuclei',
      description: 'Of all channels',
      args_parallel: { diameter: 12 },
      meta_parallel: { mem: 4000 },
      type_filters: { is_3D: true },
    },
    { task, alias: 'Last', args_parallel: { diameter: 5 } },
  ]);
  const page = await anna.open(`${pathOf(workflow)}?task=${workflow.task_list[0]!.id}`);
  await page.getByRole('textbox', { name: /^Diameter/ }).fill('17');
  await page.getByRole('button', { name: 'Duplicate task' }).click();
  await dialog(page).getByText('Save the changes, or leave without them.', { exact: false }).waitFor();
  await press(page, 'Save');
  await expect.poll(() => namesOf(anna, workflow)).toEqual(['Nuclei', 'Nuclei', 'Last']);
  const [original, copy] = (await stored(anna, workflow)).task_list;
  const set = ['args_parallel', 'meta_parallel', 'type_filters', 'alias', 'description'] as const;
  expect(set.map((key) => copy![key])).toEqual(set.map((key) => original![key]));
  expect(copy!.args_parallel).toEqual({ diameter: 17 });
  expect(copy!.id).not.toBe(original!.id);

  // pressed twice, it is sent once; why it was refused is said of this task alone
  const held: Route[] = [];
  await page.route(/\/wftask\/?\?/, (route) => void held.push(route));
  const button = page.getByRole('button', { name: 'Duplicate task' });
  await page.waitForURL(`**task=${copy!.id}**`);
  await button.click();
  await button.click({ force: true });
  await expect.poll(() => button.getAttribute('aria-disabled')).toBe('true');
  await expect.poll(() => held.length).toBe(1);
  await held[0]!.fulfill({ status: 422, json: { detail: 'The disk is full.' } });
  const problem = page.getByRole('alert').filter({ hasText: 'The disk is full.' });
  await problem.waitFor();
  expect(await button.getAttribute('aria-disabled')).toBe('false');
  expect(held).toHaveLength(1);
  await page.getByRole('region', { name: 'Tasks of this workflow' }).getByRole('link', { name: /Last/ }).click();
  await page.getByRole('region', { name: 'Selected task' }).getByRole('heading', { name: 'Last' }).waitFor();
  expect(await problem.count()).toBe(0);
});

test('another order persists after reload, and waits while a job runs', async () => {
  const { anna, project, alpha, beta, gamma } = await withTasks();
  const dataset = await anna.dataset(project, 'Plate', ['a']);
  const workflow = await anna.workflow(project, 'Order', [
    { task: alpha, alias: 'One', args_parallel: { plan: { '*': { sleep: 60 } } } },
    { task: beta, alias: 'Two' },
    { task: gamma, alias: 'Three' },
  ]);
  const page = await anna.open(pathOf(workflow));
  await page.getByRole('button', { name: 'Reorder' }).click();
  await dialog(page).getByRole('button', { name: 'Move Three up' }).click();
  await looksWell(page, 'reorder');
  // with the keys of the grip: to the very top
  await dialog(page)
    .getByRole('button', { name: /^Move Three, number 2/ })
    .press('Home');
  const items = dialog(page).getByRole('listitem');
  await items.nth(2).dragTo(items.nth(1));
  await expect
    .poll(async () => (await items.allTextContents()).map((text) => text.match(/[A-Z]\w+/)![0]))
    .toEqual(['Three', 'Two', 'One']);
  await press(page, 'Save order');
  await dialog(page).waitFor({ state: 'detached' });
  await page.reload();
  const shown = page.getByRole('region', { name: 'Tasks of this workflow' }).getByRole('listitem');
  await expect
    .poll(async () => (await shown.allTextContents()).map((text) => text.match(/Three|Two|One/)![0]))
    .toEqual(['Three', 'Two', 'One']);

  const job = await anna.submit(project, workflow, dataset, { first_task_index: 2 });
  await goTo(page, pathOf(workflow));
  const reorder = page.getByRole('button', { name: 'Reorder' });
  await expect.poll(() => reorder.getAttribute('aria-disabled')).toBe('true');
  await good(anna.client.post(`/api/v2/project/${project.id}/job/${job.id}/stop/`, {}));
  await anna.ended(job);
});

async function deactivate(who: Person, task: Task) {
  const path = `/api/v2/task-group/${task.taskgroupv2_id}/`;
  await good(who.client.post(`${path}deactivate/`, {}));
  await expect
    .poll(async () => (await good<{ active: boolean }>(who.client.get(path))).active, { timeout: 30_000 })
    .toBe(false);
}

const taskAddress = ({ id }: Task) => `**/api/v2/task/${id}`;

/** Lets answers about a task come only when they are released. */
async function holdTask(page: Page, task: Task) {
  const [come, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held = async (route: Route) => {
    come.resolve();
    await released.promise;
    // the page may not wait for it any more
    await route.continue().catch(() => undefined);
  };
  await page.route(taskAddress(task), held);
  const release = async () => {
    released.resolve();
    await page.unroute(taskAddress(task), held);
  };
  return { come: come.promise, release };
}

test('version update: arguments are merged, what does not fit is said, order and filters stay', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const { properties } = SCHEMA;
  const schema = (more: object) => ({ type: 'object', properties: { ...properties, ...more } });
  const withMode = schema({ mode: { type: 'string', default: 'fast' } });
  const make = (name: string, version: string, fields: object) =>
    anna.task({ name: `${name} ${anna.id}`, version, ...fields });
  const segment = await make('Segment', '1.0.0', { schema: SCHEMA });
  const newer = await make('Segment', '1.1.0', { schema: withMode });
  await make('Segment', '2.0.0', { schema: schema({ diameter: { type: 'string', title: 'Diameter' } }) });
  await deactivate(anna, await make('Segment', '3.0.0', { schema: SCHEMA }));
  await make('Segment', '4.0.0', { type: 'non_parallel', schemaNonParallel: SCHEMA });
  const merge = await make('Merge', '1.0.0', { type: 'non_parallel', schemaNonParallel: SCHEMA });
  await make('Merge', '1.1.0', { type: 'non_parallel', schemaNonParallel: withMode });
  const newest = await make('Merge', '1.2.0', { type: 'non_parallel', schemaNonParallel: SCHEMA });
  const tile = await make('Tile', '1.0.0', { type: 'compound', schema: SCHEMA, schemaNonParallel: SCHEMA });
  await make('Tile', '1.1.0', { type: 'compound', schema: withMode, schemaNonParallel: SCHEMA });
  const workflow = await anna.workflow(project, 'Versions', [
    { task: segment, alias: 'Nuclei', type_filters: { is_3D: true }, args_parallel: { diameter: 12 } },
    { task: merge, args_non_parallel: { diameter: 3 } },
    { task: tile, args_parallel: { diameter: 4 }, args_non_parallel: { diameter: 5 } },
  ]);
  const page = await anna.open(`${pathOf(workflow)}?task=${workflow.task_list[0]!.id}&tab=info`);
  const update = page.getByRole('region', { name: 'Newer version' });
  const versions = update.getByLabel('New version');
  await update.getByRole('button', { name: 'Update to 2.0.0' }).waitFor();
  expect((await versions.locator('option').allTextContents()).map((text) => text.trim())).toEqual(['2.0.0', '1.1.0']);
  await update.getByText(/will not fit version 2\.0\.0/).waitFor();
  expect(await update.textContent()).toContain('diameter: Enter text.');

  // the last choice counts, also while an earlier one is on its way; what cannot be read is asked for again on demand
  const held = await holdTask(page, newer);
  await versions.selectOption({ label: '1.1.0' });
  await held.come;
  await versions.selectOption({ label: '2.0.0' });
  await held.release();
  await update.getByText(/will not fit version 2\.0\.0/).waitFor();
  await page.route(taskAddress(newer), (route) => route.fulfill({ status: 409, json: { detail: 'Not right now.' } }));
  await versions.selectOption({ label: '1.1.0' });
  await update.getByText('Not right now.').waitFor();
  await page.unroute(taskAddress(newer));
  await update.getByRole('button', { name: 'Try again' }).click();
  await update.getByRole('button', { name: 'Update to 1.1.0' }).waitFor();
  expect(await update.getByText('Not right now.').count()).toBe(0);

  // what the same person has saved meanwhile is no conflict
  await page.getByRole('button', { name: 'Edit description' }).click();
  await page.getByRole('textbox', { name: 'Description' }).fill('Of all channels');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The description is saved.').waitFor();
  await update.getByRole('row', { name: /mode.*new.*"fast"/ }).waitFor();
  await looksWell(page, 'version-update');
  await update.getByRole('button', { name: 'Update to 1.1.0' }).click();
  await expect.poll(async () => (await stored(anna, workflow)).task_list[0]!.task.version).toBe('1.1.0');
  const [step] = (await stored(anna, workflow)).task_list;
  expect(step).toMatchObject({
    alias: 'Nuclei',
    order: 0,
    type_filters: { is_3D: true },
    args_parallel: { diameter: 12, mode: 'fast' },
  });

  // the others at once
  const first = await holdTask(page, newest);
  await page.getByRole('button', { name: 'Update 3', exact: true }).click();
  await first.come;
  await dialog(page)
    .getByLabel(/^New version of Merge/)
    .selectOption({ label: '1.1.0' });
  await first.release();
  await dialog(page)
    .getByRole('checkbox', { name: /Nuclei/ })
    .uncheck();
  await dialog(page)
    .getByRole('row', { name: /mode.*new.*"fast"/ })
    .first()
    .waitFor();
  await looksWell(page, 'update-all');
  await press(page, 'Update 2 tasks');
  await dialog(page).waitFor({ state: 'detached' });
  const list = (await stored(anna, workflow)).task_list;
  expect(list.map(({ task }) => task.version)).toEqual(['1.1.0', '1.1.0', '1.1.0']);
  expect(list.map(({ args_non_parallel, args_parallel }) => [args_non_parallel, args_parallel])).toEqual([
    [null, { diameter: 12, mode: 'fast' }],
    [{ diameter: 3, mode: 'fast' }, null],
    [{ diameter: 5 }, { diameter: 4, mode: 'fast' }],
  ]);
});

test('a template is made of a workflow, and compared with what became of it', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const task = await anna.task({ name: `Segment ${anna.id}`, schema: SCHEMA });
  const empty = await anna.workflow(project, 'Nothing', []);
  const page = await anna.open(pathOf(empty));
  await page.getByRole('button', { name: 'Save as template' }).click();
  await dialog(page)
    .getByText(/has no tasks yet/)
    .waitFor();
  const save = dialog(page).getByRole('button', { name: 'Save template' });
  await expect.poll(() => save.getAttribute('aria-disabled')).toBe('true');

  const name = `Nuclei ${anna.id}`;
  const workflow = await anna.workflow(project, name, [
    { task, args_parallel: { diameter: 12 } },
    { task, args_parallel: { diameter: 30 } },
    { task, args_parallel: { diameter: 7 } },
  ]);
  await goTo(page, pathOf(workflow));
  await page.getByRole('button', { name: 'Save as template' }).click();
  await dialog(page).getByLabel('Version').waitFor();
  expect(await dialog(page).getByLabel('Name').inputValue()).toBe(name);
  expect(await dialog(page).getByLabel('Version').inputValue()).toBe('1');
  await looksWell(page, 'create-template');
  await dialog(page).getByLabel('Version').fill('0');
  await press(page, 'Save template');
  await dialog(page).getByText('Enter a whole number, 1 or more.').waitFor();
  await dialog(page).getByLabel('Version').fill('1');
  await dialog(page).getByLabel('Description').fill('For all screens');
  await press(page, 'Save template');
  await page.waitForURL(/\/v2\/templates\?template_id=\d+/);
  const template_id = new URL(page.url()).searchParams.get('template_id')!;
  expect(await good<Template>(anna.client.get(`/api/v2/workflow-template/${template_id}/`))).toMatchObject({
    name,
    version: 1,
    description: 'For all screens',
  });

  // a workflow of it, with other arguments for the first task and the last one gone
  const base = `/api/v2/project/${project.id}/workflow/`;
  const made = await good<Workflow>(
    anna.client.post(`${base}import-from-template/?template_id=${template_id}`, { name: 'Made of it' }),
  );
  const [first, second, third] = made.task_list;
  await good(anna.client.patch(`${base}${made.id}/wftask/${first!.id}/`, { args_parallel: { diameter: 40 } }));
  await good(anna.client.patch(`${base}${made.id}/wftask/${second!.id}/`, { alias: 'Second look' }));
  await good(anna.client.delete(`${base}${made.id}/wftask/${third!.id}/`));
  await goTo(page, pathOf(made));
  await page.getByRole('button', { name: 'More about Made of it' }).click();
  await page.getByRole('menuitem', { name: 'Compare with its template' }).click();
  await dialog(page).getByText('1 the same, 1 with other arguments, 1 only in the template').waitFor();
  await dialog(page)
    .getByRole('row', { name: /diameter.*changed.*12.*40/ })
    .waitFor();
  await dialog(page)
    .getByRole('row', { name: /Alias.*new.*"Second look"/ })
    .waitFor();
  await looksWell(page, 'compare');
  await press(page, 'Close');

  await page.getByRole('button', { name: 'Save as template' }).click();
  await dialog(page).getByLabel('Version').waitFor();
  expect(await dialog(page).getByLabel('Name').inputValue()).toBe(name);
  expect(await dialog(page).getByLabel('Version').inputValue()).toBe('2');
  expect(await dialog(page).getByLabel('Description').inputValue()).toBe('For all screens');
});

test('name and description of a workflow', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const workflow = await anna.workflow(project, 'Before', []);
  const page = await anna.open(pathOf(workflow));
  await page.getByRole('button', { name: 'More about Before' }).click();
  await page.getByRole('menuitem', { name: 'Name and description' }).click();
  await dialog(page).getByLabel('Name').fill(' ');
  await press(page, 'Save');
  await dialog(page).getByText('Enter a name.').waitFor();
  await looksWell(page, 'workflow-properties');
  await dialog(page).getByLabel('Name').fill('After');
  await dialog(page).getByLabel('Description').fill('Counts nuclei');
  await press(page, 'Save');
  await page.getByRole('heading', { name: 'After', level: 1 }).waitFor();
  expect(await stored(anna, workflow)).toMatchObject({ name: 'After', description: 'Counts nuclei' });
});

test('which types of images reach each task', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const workflow = await anna.workflow(project, 'Flow', [
    { task: await anna.task({ name: 'Project', input_types: { is_3D: true }, output_types: { is_3D: false } }) },
    { task: await anna.task({ name: 'Measure' }), alias: 'Features' },
  ]);
  const page = await anna.open(pathOf(workflow));
  await page.getByRole('button', { name: 'More about Flow' }).click();
  await page.getByRole('menuitem', { name: 'Which images reach each task' }).click();
  await dialog(page)
    .getByRole('row', { name: /1\s*Project\s*any\s*is_3D true\s*is_3D false/ })
    .waitFor();
  await dialog(page)
    .getByRole('row', { name: /2\s*Features\s*is_3D false\s*any\s*as before/ })
    .waitFor();
  await looksWell(page, 'type-flow');
});
