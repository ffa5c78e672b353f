/** Tasks and task groups of everybody, for administrators. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import type { Task, TaskGroup } from '@service/contract';

import { admin, asAdmin, good, goTo, looksWell, person, type Person } from './site.ts';

let count = 0;
const unique = () => `Site ${process.pid} ${Date.now().toString(36)} ${++count}`;

/** A private task group with one task, which needs no environment. */
async function made(owner: Person, name: string, version = '1.0.0'): Promise<Task> {
  return owner.task({ name, version });
}

const groupOf = async (task: Task) =>
  good<TaskGroup & { user_group_id: number | null }>(
    (await admin()).get(`/admin/v2/task-group/${task.taskgroupv2_id}/`),
  );

test('admin tasks: filters, core flags single and bulk, relationships, CSV', async () => {
  const anna = await person({ name: 'anna' });
  const name = unique();
  const first = await made(anna, name, '1.0.0');
  const second = await made(anna, `${name} again`, '2.0.0');
  const project = await anna.project('Screen 7');
  await anna.workflow(project, 'Segmentation', [{ task: first }]);

  const page = await asAdmin('/v2/admin/tasks');
  const found = page.getByRole('region', { name: 'Tasks', exact: true });
  await page.getByLabel('Name').fill(name);
  await expect.poll(() => found.getByRole('status').first().textContent()).toBe('2 tasks');
  await page.getByLabel('Version').fill('2.0.0');
  await expect.poll(() => found.getByRole('status').first().textContent()).toBe('1 task');
  // filters are in the address, so they are there again
  await goTo(page, page.url());
  await expect.poll(() => page.getByLabel('Version').inputValue()).toBe('2.0.0');
  await page.getByLabel('Version').fill('');
  await expect.poll(() => found.getByRole('status').first().textContent()).toBe('2 tasks');
  await page.getByRole('button', { name: /^Owner:/ }).click();
  await page.getByRole('combobox', { name: 'Search in Owner' }).fill(anna.email);
  await page.getByRole('option', { name: anna.email }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('owner')).toBe(String(anna.id));
  await expect.poll(() => found.getByRole('status').first().textContent()).toBe('2 tasks');
  await looksWell(page, 'admin-tasks');

  const core = (task: Task) =>
    page.getByRole('switch', { name: `Core: ${task.name} ${task.version}, task ${task.id}` });
  await core(first).click();
  await expect.poll(() => core(first).getAttribute('aria-checked')).toBe('true');
  await page.getByLabel('Core', { exact: true }).selectOption('true');
  await expect.poll(() => found.getByRole('status').first().textContent()).toBe('1 task');
  await page.getByLabel('Core', { exact: true }).selectOption('');
  await expect.poll(() => found.getByRole('status').first().textContent()).toBe('2 tasks');
  await page.getByLabel('Tick all on this page').check();
  await page.getByRole('button', { name: 'Make core' }).click();
  await expect.poll(() => core(second).getAttribute('aria-checked')).toBe('true');
  await page.getByLabel('Tick all on this page').check();
  await page.getByRole('button', { name: 'Make not core' }).click();
  await expect.poll(() => core(first).getAttribute('aria-checked')).toBe('false');
  await expect.poll(() => core(second).getAttribute('aria-checked')).toBe('false');

  await page.getByRole('button', { name: `Info about ${first.name} 1.0.0, task ${first.id}` }).click();
  const row = page.getByRole('dialog').getByRole('row').filter({ hasText: 'Segmentation' });
  await expect.poll(() => row.textContent()).toMatch(new RegExp(`Screen 7.*${anna.email}`, 's'));
  await looksWell(page, 'admin-task-info');
  await page.keyboard.press('Escape');

  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as CSV' }).click(),
  ]);
  const lines = readFileSync(await saved.path(), 'utf8')
    .trim()
    .split('\r\n');
  expect(lines).toHaveLength(3);
  expect(lines[1]).toBe(`${first.id},${name},parallel,${name},1.0.0,false,true,${anna.email},,1,1`);
});

test('admin task groups: filters, group, core, lifecycle, and no reset for own environments', async () => {
  const anna = await person({ name: 'anna' });
  const name = unique();
  const task = await made(anna, name);
  const page = await asAdmin(`/v2/admin/task-groups?package=${encodeURIComponent(name)}`);
  const found = page.getByRole('region', { name: 'Task groups', exact: true });
  const row = found.getByRole('row').filter({ hasText: name });
  await expect.poll(() => found.getByRole('status').first().textContent()).toBe('1 task group');
  await page.getByRole('button', { name: /^Came from:/ }).click();
  await page.getByRole('option', { name: 'Pixi' }).click();
  await expect.poll(() => page.getByRole('heading', { name: 'No task group matches these filters' }).count()).toBe(1);
  await page.goBack();
  await goTo(page, `/v2/admin/task-groups?package=${encodeURIComponent(name)}&active=true&private=true&in_use=false`);
  await expect.poll(() => row.count()).toBe(1);
  await looksWell(page, 'admin-task-groups');

  const more = page.getByRole('button', { name: `More about ${name} 1.0.0, task group ${task.taskgroupv2_id}` });
  const ask = async (item: string) => {
    await more.click();
    await page.getByRole('menuitem', { name: item, exact: true }).click();
  };
  await ask('Info');
  await expect.poll(() => page.getByRole('dialog').getByText('Own environment').count()).toBe(1);
  await page.keyboard.press('Escape');

  // somebody else's group, through the path for administrators
  await goTo(page, `/v2/admin/task-groups?package=${encodeURIComponent(name)}`);
  await ask('Who can use it');
  await page.getByRole('dialog').getByRole('combobox', { name: 'Group' }).selectOption({ label: 'All' });
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => row.textContent()).toMatch(/All/);
  expect((await groupOf(task)).user_group_id).not.toBeNull();

  await ask('Make all tasks core');
  await expect.poll(() => row.textContent()).toMatch(/core/);
  await ask('Make no task core');
  await expect.poll(async () => (await groupOf(task)).task_list.some(({ is_core }) => is_core)).toBe(false);

  const opensOn = async () => {
    await expect.poll(() => page.url()).toMatch(/task-groups\/activities\?activity_id=\d+/);
    const activity = page.getByRole('region', { name: /^Activity \d+/ });
    await expect.poll(() => activity.textContent()).toMatch(new RegExp(`${name}.*Done.*by ${anna.email}`, 's'));
  };
  await ask('Deactivate');
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await opensOn();
  await looksWell(page, 'admin-activities');
  expect((await groupOf(task)).active).toBe(false);

  // nothing that the service made: nothing to build again
  await goTo(page, `/v2/admin/task-groups?package=${encodeURIComponent(name)}`);
  await more.click();
  await expect.poll(() => page.getByRole('menuitem', { name: 'Reactivate' }).count()).toBe(1);
  await expect.poll(() => page.getByRole('menuitem', { name: 'Reset' }).count()).toBe(0);
  await goTo(page, `/v2/admin/task-groups/${task.taskgroupv2_id}/reset`);
  await expect.poll(() => page.getByText(/switched off here|not made by the service/).count()).toBe(1);
  await expect.poll(() => page.getByRole('button', { name: 'Reset' }).count()).toBe(0);
  await looksWell(page, 'admin-reset');

  await page.getByRole('link', { name: 'Back to the task group' }).click();
  await ask('Reactivate');
  await page.getByRole('dialog').getByRole('button', { name: 'Reactivate' }).click();
  await opensOn();
  await goTo(page, `/v2/admin/task-groups?package=${encodeURIComponent(name)}`);
  await ask('Delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await opensOn();
  const { status } = await (await admin()).get(`/admin/v2/task-group/${task.taskgroupv2_id}/`);
  expect(status).toBe(404);
});

test('a task group in use cannot be deleted by an administrator either', async () => {
  const anna = await person({ name: 'anna' });
  const name = unique();
  const task = await made(anna, name);
  await anna.workflow(await anna.project(), 'Uses it', [{ task }]);
  const page = await asAdmin(`/v2/admin/task-groups?id=${task.taskgroupv2_id}`);
  await page.getByRole('button', { name: /^More about/ }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await expect.poll(() => page.getByRole('dialog').textContent()).toMatch(/1 workflow uses its tasks/);
  await expect.poll(() => page.getByRole('dialog').getByRole('button', { name: 'Delete' }).count()).toBe(0);
});

test('admin activities: filters with the user, in the address', async () => {
  const anna = await person({ name: 'anna' });
  const task = await made(anna, unique());
  await good(anna.client.post(`/api/v2/task-group/${task.taskgroupv2_id}/deactivate/`, {}));
  const page = await asAdmin('/v2/admin/task-groups/activities');
  const found = page.getByRole('region', { name: 'Activities', exact: true });
  await page.getByRole('button', { name: /^User:/ }).click();
  await page.getByRole('combobox', { name: 'Search in User' }).fill(anna.email);
  await page.getByRole('option', { name: anna.email }).click();
  await expect.poll(() => found.getByRole('status').first().textContent()).toBe('1 activity');
  await expect.poll(() => found.getByRole('row').filter({ hasText: anna.email }).count()).toBe(1);
  await page.getByRole('button', { name: /^Status:/ }).click();
  await page.getByRole('option', { name: 'Failed' }).click();
  await expect.poll(() => page.getByRole('heading', { name: 'No activity matches these filters' }).count()).toBe(1);
  await found.getByRole('button', { name: 'Clear filters' }).first().click();
  await expect.poll(() => new URL(page.url()).search).toBe('');
});
