/** Taking packages in, and what becomes of them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';

import type { Activity, Task, TaskGroup } from '@service/contract';

import { buildWheel, goodFiles, manifest, uploadForm } from '../../../../tests/support/wheels.ts';
import { LONG } from '../../../server/test/support/long.ts';
import { good, goTo, looksWell, type Person, person } from './site.ts';

const folder = mkdtempSync(join(tmpdir(), 'collect-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
/** A name that no other test has, as packages and as Python call it. */
const unique = () => `site_${process.pid}_${Date.now().toString(36)}_${++count}`;
const dashed = (name: string) => name.replaceAll('_', '-');
const wheel = (name: string, version = '1.0.0') => buildWheel(folder, { name, version, files: goodFiles(name) });
const file = (name: string, content: unknown) => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

const MANAGEMENT = '/v2/tasks/management';
const kind = (page: Page, name: string) => page.getByText(name, { exact: true }).first().click();
const collect = (page: Page) => page.getByRole('button', { name: 'Collect', exact: true }).click();
const problem = (page: Page, text: string | RegExp) => expect.poll(() => page.getByText(text).count()).toBe(1);
const packageRow = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function ended(owner: Person, { id }: Activity): Promise<Activity> {
  const path = `/api/v2/task-group/activity/${id}/`;
  await expect
    .poll(async () => (await good<Activity>(owner.client.get(path))).status, { timeout: 90_000 })
    .toMatch(/OK|failed/);
  return good(owner.client.get(path));
}

async function collectedWheel(owner: Person, name: string, query = 'private=true'): Promise<Activity> {
  const { status, body, text } = await owner.client.raw(`/api/v2/task/collect/pip/?${query}`, {
    method: 'POST',
    body: uploadForm(wheel(name)),
  });
  if (status >= 300) throw new Error(text);
  const activity = await ended(owner, body as Activity);
  expect(activity.status).toBe('OK');
  return activity;
}

test('a package of the index: errors at the field', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open(MANAGEMENT);
  await collect(page);
  await problem(page, 'Enter a package name.');
  await page.getByLabel('Package', { exact: true }).fill('two words');
  await collect(page);
  await problem(page, /letters, digits, dots and dashes/);
  // versions of Python come from the service
  const offered = await page.getByRole('combobox', { name: 'Python' }).locator('option').allTextContents();
  const info = await good<{ python_versions: string[] }>(anna.client.get('/auth/current-user/profile-info/'));
  expect(offered.slice(1)).toEqual(info.python_versions);
  await page.getByRole('button', { name: 'Pin a package' }).click();
  await page.getByLabel('Package to pin').fill('numpy');
  await page.keyboard.press('Enter');
  await problem(page, 'Enter a version, such as 2.1.3.');
  await page.getByLabel('Its version').fill('2.1.3');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByText('numpy 2.1.3 before').count()).toBe(1);
  await page.getByRole('button', { name: 'Remove pin of numpy' }).click();
  await expect.poll(() => page.getByText('numpy 2.1.3 before').count()).toBe(0);
  await looksWell(page, 'packages');
});

// first-hour.test.ts collects one, too
test.runIf(LONG)('a wheel: the activity appears with its steps, ends, and the list has the package', async () => {
  const anna = await person({ name: 'anna' });
  const name = unique();
  const page = await anna.open(MANAGEMENT);
  await kind(page, 'Wheel file');
  await collect(page);
  await problem(page, 'Choose a wheel file.');
  await page.getByRole('button', { name: /^Wheel file/ }).setInputFiles(file('notes.txt', 'x'));
  await collect(page);
  await problem(page, 'A wheel is a file that ends in .whl.');
  await page.getByRole('button', { name: /^Wheel file/ }).setInputFiles(wheel(name));
  await page.getByLabel('Only me').check();
  await collect(page);

  const recent = page.getByRole('region', { name: 'Recent activities' });
  await expect.poll(() => recent.getByRole('heading', { name: `${dashed(name)} 1.0.0` }).count()).toBe(1);
  await expect.poll(() => recent.getByRole('list', { name: 'Steps' }).getByText('Environment').count()).toBe(1);
  await expect.poll(() => recent.getByText('Done', { exact: true }).count(), { timeout: 90_000 }).toBe(1);
  await expect.poll(() => recent.getByText('Found 1 task').count()).toBeGreaterThan(0);
  await expect.poll(() => packageRow(page, dashed(name)).count()).toBe(1);
  await looksWell(page, 'packages-collected');

  // the same again is refused where it was asked for
  await page.getByRole('button', { name: /^Wheel file/ }).setInputFiles(wheel(name));
  await page.getByLabel('Only me').check();
  await collect(page);
  await expect
    .poll(() => page.getByRole('alert').textContent())
    .toMatch(/1\.0\.0 of .+ \(task group \d+\) is installed in .+, where .+ 1\.0\.0 would be installed/);
});

// demo.test.ts shows a failed one with its log, too
test.runIf(LONG)('a wheel that is none fails with its log', async () => {
  const anna = await person({ name: 'anna' });
  const name = unique();
  const broken = buildWheel(folder, { name, files: { [`${name}/__init__.py`]: '' } });
  const page = await anna.open(MANAGEMENT);
  await kind(page, 'Wheel file');
  await page.getByRole('button', { name: /^Wheel file/ }).setInputFiles(broken);
  await page.getByLabel('Only me').check();
  await collect(page);
  const recent = page.getByRole('region', { name: 'Recent activities' });
  await expect.poll(() => recent.getByText('Failed', { exact: true }).count(), { timeout: 90_000 }).toBeGreaterThan(0);
  await expect.poll(() => recent.getByText(/manifest/i).count()).toBeGreaterThan(0);
  await looksWell(page, 'packages-failed');
});

test('pixi, with and without a file', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open(MANAGEMENT);
  await kind(page, 'Pixi');
  await collect(page);
  await problem(page, 'Choose a pixi project, packed as .tar.gz.');
  const archive = file('project-1.0.0.tar.gz', 'this is no archive');
  await page.getByLabel('Pixi project').setInputFiles(archive);
  await expect.poll(() => page.getByLabel('Use its lock file').isChecked()).toBe(true);
  await page.getByLabel('Only me').check();
  await collect(page);
  // what the service says stands in the form, which stays as it was
  const { status, body } = await anna.client.raw('/api/v2/task/collect/pixi/?private=true', {
    method: 'POST',
    body: uploadForm(archive),
  });
  expect(status).toBe(422);
  await expect.poll(() => page.getByText(String(body.detail)).count()).toBe(1);
  await expect.poll(() => page.getByText('project-1.0.0.tar.gz').count()).toBe(1);
});

test('an environment of one’s own: relative interpreter, both package fields, manifests that are none', async () => {
  const anna = await person({ name: 'anna' });
  const label = unique();
  const page = await anna.open(MANAGEMENT);
  await kind(page, 'Own environment');
  const choose = (path: string) => page.getByLabel('Manifest').setInputFiles(path);

  await page.getByLabel('Python interpreter').fill('bin/python');
  await page.getByLabel('Package name').fill('hello');
  await page.getByLabel('Package folder').fill(folder);
  await collect(page);
  await problem(page, 'Enter an absolute path, beginning with /.');
  await problem(page, 'Enter the name or the folder, not both.');
  await problem(page, 'Choose the manifest of the package.');

  await choose(file('broken.json', '{'));
  await problem(page, /This is not JSON\. Line 1/);
  await choose(file('old.json', { manifest_version: '1', task_list: [] }));
  await problem(page, /This manifest has version 1/);
  await choose(file('good.json', manifest()));
  await problem(page, '1 task: Say hello');
  await looksWell(page, 'packages-own');

  await page.getByLabel('Python interpreter').fill('/nowhere/python');
  await page.getByLabel('Package name').fill('');
  await page.getByLabel('Display name').fill(label);
  await page.getByLabel('Version').fill('1.0.0');
  await page.getByLabel('Only me').check();
  await collect(page);
  await expect.poll(() => page.getByText(/not a program that the service can run/).count()).toBe(1);
  await page.getByLabel('Python interpreter').fill('/usr/bin/python3');
  writeFileSync(join(folder, 'hello.py'), '');
  await collect(page);
  await expect.poll(() => packageRow(page, label).count()).toBe(1);
});

test('single tasks of all kinds, and files that are none', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open(MANAGEMENT);
  await kind(page, 'One task');
  const add = () => page.getByRole('button', { name: 'Add task' }).click();
  await add();
  await problem(page, 'Enter a name for the task.');
  await problem(page, 'Enter the command that starts the task.');

  const unfolded = page.getByText('Types, arguments, documentation');
  await unfolded.click();
  await page.getByLabel('Schema of arguments').setInputFiles(file('none.json', '[]'));
  await problem(page, 'The file holds no JSON object.');
  await page
    .getByLabel('Schema of arguments')
    .setInputFiles(file('older.json', { properties: { a: { items: [{}] } } }));
  await problem(page, 'It looks like pydantic_v1.');
  await page.getByLabel('Schema of arguments').setInputFiles(file('newer.json', { type: 'object', properties: {} }));
  await problem(page, 'It looks like pydantic_v2.');
  await page.getByRole('button', { name: 'Add a type: Takes images that are' }).click();
  await page.getByLabel('Takes images that are, name 1').fill('3D');
  await looksWell(page, 'packages-task');

  const name = unique();
  const commands = { parallel: ['Command'], compound: ['Init command', 'Compute command'] };
  for (const [type, labels] of [
    ['parallel', commands.parallel],
    ['non_parallel', commands.parallel],
    ['compound', commands.compound],
    ['converter_non_parallel', commands.parallel],
    ['converter_compound', commands.compound],
  ] as const) {
    await page.getByLabel('Kind', { exact: true }).selectOption(type);
    await page.getByLabel('Name', { exact: true }).fill(`${name} ${type}`);
    await page.getByLabel('Version', { exact: true }).fill('1.0.0');
    for (const label of labels) await page.getByLabel(label, { exact: true }).fill('python3 run.py');
    await page.getByLabel('Only me').check();
    await add();
    await expect.poll(() => packageRow(page, `${name} ${type}`).count()).toBe(1);
  }
  const made = await good<Task[]>(anna.client.get('/api/v2/task/'));
  const first = made.find((task) => task.name === `${name} parallel`)!;
  const task = await good<Task>(anna.client.get(`/api/v2/task/${first.id}/`));
  expect(task).toMatchObject({ type: 'parallel', args_schema_version: 'pydantic_v2', input_types: { '3D': true } });
  expect(
    made
      .filter((one) => one.name.startsWith(name))
      .map(({ type }) => type)
      .sort(),
  ).toEqual(['compound', 'converter_compound', 'converter_non_parallel', 'non_parallel', 'parallel']);
});

test('a task group: private and shared, in use, deactivate, reactivate, delete', async () => {
  const anna = await person({ name: 'anna' });
  const name = unique();
  const label = dashed(name);
  const { taskgroupv2_id: id } = await collectedWheel(anna, name);
  const group = () => good<TaskGroup>(anna.client.get(`/api/v2/task-group/${id}/`));
  const page = await anna.open(`${MANAGEMENT}?search=${label}`);
  await packageRow(page, label).click();
  const row = page.getByRole('row').filter({ hasText: '1.0.0' }).filter({ hasText: 'active' });
  await expect.poll(() => row.textContent()).toMatch(/active.*Only the owner.*not used/s);

  // shared with a group
  const more = page.getByRole('button', { name: `More about ${label} 1.0.0 of ${anna.email}` });
  await more.click();
  await page.getByRole('menuitem', { name: 'Info' }).click();
  await expect.poll(() => page.getByRole('dialog').getByText('Wheel file').count()).toBe(1);
  await looksWell(page, 'package-info');
  await page.keyboard.press('Escape');
  await expect.poll(() => more.evaluate((button) => button === document.activeElement)).toBe(true);
  await more.click();
  await page.getByRole('menuitem', { name: 'Who can use it' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Group', { exact: true }).and(page.getByRole('combobox')).selectOption({ label: 'All' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => row.textContent()).toMatch(/All/);
  expect((await group()).user_group_id).not.toBeNull();

  // in use: it cannot be deleted
  const project = await anna.project();
  const [task] = (await group()).task_list;
  const workflow = await anna.workflow(project, 'Uses it', [{ task: task! }]);
  await goTo(page, `${MANAGEMENT}?search=${label}`);
  await packageRow(page, label).click();
  await expect.poll(() => row.textContent()).toMatch(/1 workflow/);
  await more.click();
  await page.getByRole('menuitem', { name: 'Delete', disabled: true }).press('Enter');
  await expect.poll(() => page.getByRole('dialog').textContent()).toMatch(/1 workflow uses its tasks/);
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  await good(anna.client.delete(`/api/v2/project/${project.id}/workflow/${workflow.id}/`));

  // the activity page opens on the new activity
  const opensOn = async (words: RegExp) => {
    await expect.poll(() => page.url()).toMatch(/activities\?activity_id=\d+/);
    const activity = page.getByRole('region', { name: /^Activity \d+/ });
    await expect.poll(() => activity.textContent()).toMatch(words);
    await expect.poll(() => activity.getByText('Done', { exact: true }).count(), { timeout: 90_000 }).toBe(1);
    await goTo(page, `${MANAGEMENT}?search=${label}`);
  };
  await page.getByRole('button', { name: `Deactivate ${label} 1.0.0` }).click();
  await expect.poll(() => page.getByRole('dialog').textContent()).toMatch(/removed from disk/);
  await looksWell(page, 'package-deactivate');
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await opensOn(/Deactivate/);
  expect((await group()).active).toBe(false);
  await packageRow(page, label).click();
  await page.getByRole('button', { name: `Reactivate ${label} 1.0.0` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Reactivate' }).click();
  await opensOn(/Reactivate/);
  expect((await group()).active).toBe(true);
  await goTo(page, `${MANAGEMENT}?search=${label}`);
  await packageRow(page, label).click();
  await more.click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await opensOn(/Delete/);
  await expect.poll(() => page.getByRole('heading', { name: /No package/ }).count()).toBe(1);
});

test('two owners of one version are both reached, others and guests only look', async () => {
  const anna = await person({ name: 'anna' });
  const label = unique();
  const ben = await person({ name: 'ben' });
  await anna.task({ name: label });
  const shared = (owner: Person, query: string) =>
    good<Task>(
      owner.client.post(`/api/v2/task/?${query}`, {
        name: label,
        type: 'parallel',
        version: '1.0.0',
        command_parallel: 'x',
      }),
    );
  const other = await shared(ben, 'private=false');
  const page = await anna.open(`${MANAGEMENT}?search=${label}`);
  await packageRow(page, label).click();
  const of = ({ email }: Person) => page.getByRole('button', { name: `More about ${label} 1.0.0 of ${email}` });
  await expect.poll(() => of(anna).count()).toBe(1);
  await expect.poll(() => of(ben).count()).toBe(1);
  await of(ben).click();
  await expect.poll(() => page.getByText(`Only its owner, ${ben.email}, can do this.`).count()).toBe(1);
  await expect.poll(() => page.getByRole('menuitem', { name: 'Delete' }).count()).toBe(0);
  await page.getByRole('menuitem', { name: 'Info' }).click();
  await expect.poll(() => page.getByRole('dialog').getByText(ben.email).count()).toBe(1);
  await page.keyboard.press('Escape');

  // tasks made by hand can be changed by their owner
  const tasks = page.getByRole('button', { name: `Tasks of ${label} 1.0.0 of ${anna.email}: 1` });
  await tasks.click();
  await page.getByRole('button', { name: `Edit ${label}` }).click();
  await page.getByRole('textbox', { name: 'Command' }).fill('python3 other.py');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  const own = (await good<Task[]>(anna.client.get('/api/v2/task/'))).find(
    ({ name, id }) => name === label && id !== other.id,
  );
  expect((await good<Task>(anna.client.get(`/api/v2/task/${own!.id}/`))).command_parallel).toBe('python3 other.py');
  await page.getByRole('button', { name: `Info about ${label}` }).click();
  await expect.poll(() => page.getByRole('dialog').getByText('python3 other.py').count()).toBe(1);
  await looksWell(page, 'task-info');

  const guest = await person({ name: 'guest', patch: { is_guest: true } });
  const seen = await guest.open(MANAGEMENT);
  await expect.poll(() => seen.getByText(/^Guest accounts are read-only.* to collect packages\.$/).count()).toBe(1);
  expect(await seen.getByRole('region', { name: 'Collect a package' }).count()).toBe(0);
});

test('activities: filters in the address, log, one alone', async () => {
  const anna = await person({ name: 'anna' });
  const name = unique();
  const activity = await collectedWheel(anna, name);
  const page = await anna.open('/v2/tasks/activities');
  const list = page.getByRole('region', { name: 'Activities', exact: true });
  await expect
    .poll(() =>
      list
        .getByRole('row')
        .filter({ hasText: dashed(name) })
        .count(),
    )
    .toBe(1);
  await expect.poll(() => list.getByText('1 activity').count()).toBe(1);
  await looksWell(page, 'activities');

  await page.getByRole('button', { name: /^Action:/ }).click();
  await page.getByRole('option', { name: 'Reset' }).click();
  await expect.poll(() => page.getByRole('heading', { name: 'No activity matches these filters' }).count()).toBe(1);
  expect(new URL(page.url()).searchParams.get('action')).toBe('reset');
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await list.getByRole('button', { name: new RegExp(`^Log of activity ${activity.id},`) }).click();
  const log = page.getByRole('dialog').getByRole('region', { name: `Log of ${dashed(name)} 1.0.0` });
  await expect.poll(() => log.textContent()).toMatch(/Found 1 task/);
  await looksWell(page, 'activity-log');
  await page.keyboard.press('Escape');

  await goTo(page, `/v2/tasks/activities?activity_id=${activity.id}`);
  await expect.poll(() => page.getByRole('region', { name: `Activity ${activity.id}` }).count()).toBe(1);
  await page.getByRole('button', { name: 'Show all activities' }).click();
  await expect.poll(() => page.getByRole('region', { name: `Activity ${activity.id}` }).count()).toBe(0);
  expect(new URL(page.url()).search).toBe('');
});
