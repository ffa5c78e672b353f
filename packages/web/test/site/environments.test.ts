/** Environments that the service makes: with pixi, for which a program stands in, and once more from the admin area. */
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { Activity, Profile, Resource, TaskGroup, TaskGroupAdmin } from '@service/contract';

import { buildWheel, goodFiles, uploadForm } from '../../../../tests/support/wheels.ts';
import { LONG } from '../../../server/test/support/long.ts';
import { packProject, putPixi } from '../../../server/test/support/pixi-project.ts';
import { admin, asAdmin, good, goTo, looksWell, person, type Person, resets } from './site.ts';

const MANAGEMENT = '/v2/tasks/management';
const PIXI = '0.47.0';

const folder = mkdtempSync(join(tmpdir(), 'environments-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
const unique = () => `site_${process.pid}_${Date.now().toString(36)}_${++count}`;

/** On a resource that has pixi. */
let profile_id: number;
beforeAll(async () => {
  const client = await admin();
  const [first] = await good<Resource[]>(client.get('/admin/v2/resource/'));
  const { id: _, ...same } = first!;
  const own = {
    name: `Pixi ${unique()}`,
    timestamp_created: undefined,
    tasks_local_dir: join(folder, 'tasks'),
    tasks_pixi_config: { default_version: PIXI, versions: { [PIXI]: putPixi(folder, PIXI) } },
  };
  const { id } = await good<Resource>(client.post('/admin/v2/resource/', { ...same, ...own }));
  const profile = { name: `Pixi ${unique()}`, resource_type: 'local' };
  ({ id: profile_id } = await good<Profile>(client.post(`/admin/v2/resource/${id}/profile/`, profile)));
});

/** The path of an archive that is named as people name it. */
function archive(version: string): string {
  const place = mkdtempSync(join(folder, 'archive-'));
  const name = `mock_pixi_tasks-${version}.tar.gz`;
  mkdirSync(join(place, 'named'));
  renameSync(packProject(place, name), join(place, 'named', name));
  return join(place, 'named', name);
}

async function collected(owner: Person, kind: 'pip' | 'pixi', path: string): Promise<TaskGroup> {
  const answer = owner.client.raw(`/api/v2/task/collect/${kind}/?private=true`, {
    method: 'POST',
    body: uploadForm(path),
  });
  const { id, taskgroupv2_id } = await good<Activity>(answer);
  await over(owner, id);
  return good(owner.client.get(`/api/v2/task-group/${taskgroupv2_id}/`));
}

/** Waits until the activity is over, and it must have gone well. */
async function over(owner: Person, id: number): Promise<void> {
  const now = () => good<Activity>(owner.client.get(`/api/v2/task-group/activity/${id}/`));
  await expect.poll(async () => (await now()).status, { timeout: 60_000 }).toMatch(/OK|failed/);
  const { status, log } = await now();
  expect(status, String(log)).toBe('OK');
}

async function deactivated(owner: Person, { id }: TaskGroup): Promise<void> {
  await over(owner, (await good<Activity>(owner.client.post(`/api/v2/task-group/${id}/deactivate/`, {}))).id);
}

/** The page of activities has opened on one, and it ends well. */
async function opensOn(page: Page, words: RegExp): Promise<void> {
  await expect.poll(() => page.url()).toMatch(/activities\?activity_id=\d+/);
  const activity = page.getByRole('region', { name: /^Activity \d+/ });
  await expect.poll(() => activity.textContent()).toMatch(words);
  await expect.poll(() => activity.getByText('Done', { exact: true }).count(), { timeout: 60_000 }).toBe(1);
}

test('a pixi project: collected with its steps, deactivated, reactivated', async () => {
  const anna = await person({ name: 'anna', profile_id });
  const page = await anna.open(MANAGEMENT);
  await page.getByText('Pixi', { exact: true }).first().click();
  const versions = page.getByRole('combobox', { name: 'Pixi' }).getByRole('option');
  await expect.poll(async () => (await versions.allInnerTexts()).slice(1)).toEqual([PIXI]);
  await page.getByLabel('Pixi project').setInputFiles(archive('1.0.0'));
  await page.getByLabel('Only me').check();
  await page.getByRole('button', { name: 'Collect', exact: true }).click();
  const recent = page.getByRole('region', { name: 'Recent activities' });
  await recent.getByRole('heading', { name: 'mock-pixi-tasks 1.0.0' }).waitFor();
  await expect.poll(() => recent.getByText('Done', { exact: true }).count(), { timeout: 60_000 }).toBe(1);
  await expect.poll(() => recent.getByRole('list', { name: 'Steps' }).textContent()).toMatch(/Install/);
  const row = page.getByRole('button', { name: 'mock-pixi-tasks', exact: true });
  await row.waitFor();
  await looksWell(page, 'packages-pixi');

  const group = async () => {
    const mine = await good<[string, TaskGroup[]][]>(anna.client.get('/api/v2/task-group/?only_owner=true'));
    return mine.flatMap(([, groups]) => groups).find(({ pkg_name }) => pkg_name === 'mock-pixi-tasks')!;
  };
  expect(await group()).toMatchObject({ origin: 'pixi', pixi_version: PIXI, active: true, user_group_id: null });

  for (const [action, active] of [
    ['Deactivate', false],
    ['Reactivate', true],
  ] as const) {
    await goTo(page, `${MANAGEMENT}?search=mock-pixi-tasks`);
    await row.click();
    await page.getByRole('button', { name: `${action} mock-pixi-tasks 1.0.0` }).click();
    await page.getByRole('dialog').getByRole('button', { name: action }).click();
    await opensOn(page, new RegExp(action));
    expect((await group()).active).toBe(active);
  }
});

/** The form to reset a task group, through the list of all. */
async function resetForm({ id, pkg_name, version }: TaskGroup): Promise<Page> {
  const page = await asAdmin(`/v2/admin/task-groups?id=${id}`);
  await page.getByRole('button', { name: `More about ${pkg_name} ${version}, task group ${id}` }).click();
  await page.getByRole('menuitem', { name: 'Reset' }).click();
  await page.getByRole('heading', { name: `Reset ${pkg_name} ${version}` }).waitFor();
  return page;
}

/** Nothing is sent before it is confirmed. */
async function confirmed(page: Page, { pkg_name, version }: TaskGroup, words: RegExp): Promise<unknown> {
  await page.getByRole('button', { name: 'Reset', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: `Reset ${pkg_name} ${version}?` });
  await expect.poll(() => dialog.textContent()).toMatch(words);
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.method() === 'POST'),
    dialog.getByRole('button', { name: 'Reset' }).click(),
  ]);
  return request.postDataJSON();
}

const asAdminSees = async ({ id }: TaskGroup) =>
  good<TaskGroupAdmin>((await admin()).get(`/admin/v2/task-group/${id}/`));

test.runIf(resets && LONG)('reset of a wheel: Python, extras and pins, confirmed once more', async () => {
  const anna = await person({ name: 'anna', profile_id });
  const name = unique();
  const group = await collected(anna, 'pip', buildWheel(folder, { name, files: goodFiles(name) }));
  const refused = await asAdmin(`/v2/admin/task-groups/${group.id}/reset`);
  await refused.getByText('It is active. Deactivate it first, then reset it.').waitFor();
  expect(await refused.getByRole('button', { name: 'Reset', exact: true }).count()).toBe(0);
  await deactivated(anna, group);

  const page = await resetForm(group);
  const python = page.getByRole('combobox', { name: 'Python' });
  expect(await python.inputValue()).toBe(group.python_version);
  expect(await page.getByLabel('Extras', { exact: true }).isDisabled()).toBe(true);
  await page.getByLabel('Change extras').check();
  await page.getByLabel('Extras', { exact: true }).fill('more');
  // already there, so that nothing has to be downloaded
  await page.getByRole('button', { name: 'Pin a package' }).click();
  await page.getByLabel('Package to pin').fill(group.pkg_name);
  await page.getByLabel('Its version').fill('1.0.0');
  await page.getByLabel('When it is installed').selectOption('after');
  await page.getByRole('button', { name: 'Pin', exact: true }).click();
  await looksWell(page, 'admin-reset-pip');
  expect(await confirmed(page, group, /newer versions.*can’t undo this/s)).toEqual({
    python_version: group.python_version,
    pip_extras: 'more',
    pinned_package_versions_pre: {},
    pinned_package_versions_post: { [group.pkg_name]: '1.0.0' },
  });
  await opensOn(page, /Reset/);
  expect(await asAdminSees(group)).toMatchObject({
    active: true,
    pip_extras: 'more',
    pinned_package_versions_post: { [group.pkg_name]: '1.0.0' },
    // the same tasks, with the same numbers
    task_list: group.task_list.map(({ id }) => ({ id })),
  });
});

test.runIf(resets && LONG)('reset of a pixi project, with its lock file and without', async () => {
  const anna = await person({ name: 'anna', profile_id });
  const group = await collected(anna, 'pixi', archive('2.0.0'));
  for (const use_pixi_lockfile of [true, false]) {
    await deactivated(anna, group);
    const page = await resetForm(group);
    const lock = page.getByLabel('Use its lock file');
    expect(await lock.isChecked()).toBe(true);
    if (!use_pixi_lockfile) await lock.uncheck();
    else await looksWell(page, 'admin-reset-pixi');
    const words = use_pixi_lockfile ? /versions in its lock file/ : /newer versions/;
    expect(await confirmed(page, group, words)).toEqual({ use_pixi_lockfile });
    await opensOn(page, /Reset/);
    const { active, task_list } = await asAdminSees(group);
    expect([active, task_list.map(({ id }) => id)]).toEqual([true, group.task_list.map(({ id }) => id)]);
  }
});
