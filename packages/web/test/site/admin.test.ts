/** The admin area: accounts, groups, resources and profiles, projects and who is in them. */
import { readFileSync } from 'node:fs';
import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';

import type { Profile, Resource, UserGroup } from '@service/contract';

import { admin, ADMIN, asAdmin, good, goTo, looksWell, PASSWORD, person, tokenOf } from './site.ts';

const stamp = () => `${process.pid}-${Date.now().toString(36)}`;
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const shows = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

/** Without what the service adds. */
const writable = ({ id: _, ...rest }: Resource) => ({ ...rest, timestamp_created: undefined });

/** A resource of this machine, as the first one is, with folders of its own. */
async function resource(name: string): Promise<Resource> {
  const client = await admin();
  const [first] = await good<Resource[]>(client.get('/admin/v2/resource/'));
  return good(client.post('/admin/v2/resource/', { ...writable(first!), name }));
}

describe('users', () => {
  test('required fields and a password typed twice, then an account with a group', async () => {
    const group = await good<UserGroup>((await admin()).post('/auth/group/', { name: `Lab ${stamp()}` }));
    const email = `new.${stamp()}@example.org`;
    const page = await asAdmin('/v2/admin/users/register');
    await looksWell(page, 'admin-register');
    await button(page, 'Register').click();
    await shows(page, 'Enter an e-mail address.');
    await shows(page, 'Enter a password.');
    await shows(page, 'Enter at least one folder.');

    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('Confirm password').fill('something else');
    await page.getByLabel('Project folders, folder 1').fill('relative/path');
    await button(page, 'Register').click();
    await shows(page, 'The two passwords differ.');

    await page.getByLabel('Confirm password').fill(PASSWORD);
    await button(page, 'Register').click();
    await expect.poll(() => page.getByLabel('Project folders, folder 1').getAttribute('aria-invalid')).toBe('true');

    await page.getByLabel('Project folders, folder 1').fill('/tmp/new');
    await page.getByRole('button', { name: /^Groups: / }).click();
    await page.getByRole('combobox', { name: 'Search in Groups' }).fill(group.name);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await button(page, 'Register').click();
    await page.waitForURL(/\/users\/\d+\/edit$/);
    expect(await tokenOf(email)).toMatch(/^ey/);
    const id = Number(/users\/(\d+)/.exec(page.url())![1]);
    await goTo(page, `/v2/admin/users/${id}`);
    await page.getByRole('link', { name: group.name }).waitFor();
    await looksWell(page, 'admin-user');
  });

  test('a group that vanishes meanwhile leaves an account, and says what is missing', async () => {
    const client = await admin();
    const group = await good<UserGroup>(client.post('/auth/group/', { name: `Gone ${stamp()}` }));
    const page = await asAdmin('/v2/admin/users/register');
    await client.delete(`/auth/group/${group.id}/`);
    await page.getByLabel('E-mail').fill(`gone.${stamp()}@example.org`);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('Confirm password').fill(PASSWORD);
    await page.getByLabel('Project folders, folder 1').fill('/tmp/gone');
    await page.getByRole('button', { name: /^Groups: / }).click();
    await page.getByRole('combobox', { name: 'Search in Groups' }).fill(group.name);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await button(page, 'Register').click();
    await page.waitForURL(/\/users\/\d+\/edit$/);
    await shows(page, /The account was created\. Its groups are not set yet/);
  });

  test('a new address, superuser asked for, guest and superuser exclude each other', async () => {
    const anna = await person({ name: 'anna' });
    const page = await asAdmin(`/v2/admin/users/${anna.id}/edit`);
    expect(await button(page, 'Save').isDisabled()).toBe(true);
    const renamed = `renamed.${stamp()}@example.org`;
    await page.getByLabel('E-mail').fill(renamed);
    await button(page, 'Save').click();
    await shows(page, `Edit ${renamed}`);

    await page.getByRole('checkbox', { name: /^Guest/ }).check();
    await page.getByRole('checkbox', { name: /^Administrator/ }).check();
    expect(await page.getByRole('checkbox', { name: /^Guest/ }).isChecked()).toBe(false);
    await button(page, 'Save').click();
    await button(page, 'Make administrator').click();
    await expect.poll(async () => (await tokenUser(renamed)).is_superuser).toBe(true);

    await page.getByRole('checkbox', { name: /^Administrator/ }).uncheck();
    await button(page, 'Save').click();
    await looksWell(page, 'admin-confirm');
    await button(page, 'Remove administrator').click();
    await expect.poll(async () => (await tokenUser(renamed)).is_superuser).toBe(false);
  });

  test('nobody changes their own rights', async () => {
    const page = await asAdmin('/v2/admin/users');
    await looksWell(page, 'admin-users');
    await page
      .getByRole('row', { name: new RegExp(ADMIN) })
      .getByRole('link', { name: 'Edit' })
      .click();
    await page.waitForURL(/edit$/);
    expect(await page.getByRole('checkbox', { name: /^Active/ }).isDisabled()).toBe(true);
    await shows(page, 'you can’t change your own');
  });
});

async function tokenUser(email: string): Promise<{ is_superuser: boolean }> {
  const users = await good<{ email: string; is_superuser: boolean }[]>((await admin()).get('/auth/users/'));
  return users.find((user) => user.email === email)!;
}

describe('groups', () => {
  test('create, a name that is taken, add, remove, delete; the group of everybody is protected', async () => {
    const anna = await person({ name: 'anna' });
    const name = `Group ${stamp()}`;
    const page = await asAdmin('/v2/admin/groups');
    await looksWell(page, 'admin-groups');
    await button(page, 'New group').click();
    await page.getByLabel('Name').fill(name);
    await button(page, 'Create group').click();
    await page.waitForURL(/\/groups\/\d+\/edit$/);

    const find = page.getByRole('searchbox', { name: 'Find people' });
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    await find.fill(anna.email);
    await page.getByRole('button', { name: `Add ${anna.email}` }).click();
    await page.getByRole('button', { name: `Remove ${anna.email}` }).waitFor();
    await looksWell(page, 'admin-group');
    // nobody else is in the list
    await expect.poll(focused).toBe('Find people');
    await page.getByRole('button', { name: `Remove ${anna.email}` }).click();
    await page.getByRole('button', { name: `Add ${anna.email}` }).waitFor();
    await expect.poll(focused).toBe('Find people');
    // the next one in the list
    await find.fill('');
    await page.getByRole('button', { name: /^Add / }).nth(1).waitFor();
    const next = await page.getByRole('button', { name: /^Add / }).nth(1).getAttribute('aria-label');
    await page.getByRole('button', { name: /^Add / }).first().click();
    await expect.poll(focused).toBe(next);

    await goTo(page, '/v2/admin/groups');
    await button(page, 'New group').click();
    await page.getByLabel('Name').fill(name);
    await button(page, 'Create group').click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.keyboard.press('Escape');

    expect(await page.getByRole('button', { name: 'Delete All', exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: `Delete ${name}` }).click();
    await button(page, 'Delete group').click();
    await expect.poll(() => page.getByRole('link', { name, exact: true }).count()).toBe(0);
  });
});

describe('resources and profiles', () => {
  test('from a file, broken JSON, edited, switched off and on, exported, deleted', async () => {
    const name = `Machine ${stamp()}`;
    const [first] = await good<Resource[]>((await admin()).get('/admin/v2/resource/'));
    const page = await asAdmin('/v2/admin/resources/create');
    // this deployment runs jobs on its own machine, so nothing else is offered
    expect(await page.getByText(/SSH|sudo/).count()).toBe(0);
    const file = page.getByLabel('Import from file');
    const foreign = Buffer.from('{"type": "slurm_ssh", "name": "Cluster"}');
    await file.setInputFiles({ name: 'r.json', mimeType: 'application/json', buffer: foreign });
    await shows(page, /This deployment runs jobs on resources of the kind “This machine”/);
    await file.setInputFiles({ name: 'r.json', mimeType: 'application/json', buffer: Buffer.from('{"name": ') });
    await shows(page, /The file is not JSON\. Line 1/);
    const buffer = Buffer.from(JSON.stringify({ ...writable(first!), name }));
    await file.setInputFiles({ name: 'r.json', mimeType: 'application/json', buffer });
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe(name);
    await looksWell(page, 'admin-resource');
    await button(page, 'Create resource').click();
    await page.waitForURL(/\/resources\/\d+\/profiles$/);
    await shows(page, 'No profiles yet');
    const id = Number(/resources\/(\d+)/.exec(page.url())![1]);

    await goTo(page, `/v2/admin/resources/${id}/edit`);
    await page.getByLabel('Name', { exact: true }).fill(`${name} renamed`);
    await page.getByLabel('Folder for jobs').fill('relative');
    await page.getByLabel(/^Processes of a task/).fill('many');
    await button(page, 'Save').click();
    const refused = page.getByLabel('Folder for jobs');
    await expect.poll(() => refused.getAttribute('aria-invalid')).toBe('true');
    expect(await refused.evaluate((input) => input === document.activeElement)).toBe(true);
    await shows(page, 'Enter an absolute path: it starts with /.');
    await shows(page, 'Enter a whole number.');
    await looksWell(page, 'admin-resource-refused');
    await refused.fill('/tmp');
    await page.getByLabel(/^Processes of a task/).fill('2');
    await button(page, 'Save').click();
    await page.getByRole('heading', { name: `${name} renamed` }).waitFor();
    await button(page, 'Switch new jobs off').click();
    await button(page, 'Switch off').click();
    await shows(page, /New jobs are switched off here/);
    await button(page, 'Accept new jobs').click();
    await button(page, 'Switch new jobs off').waitFor();

    await goTo(page, '/v2/admin/resources');
    await looksWell(page, 'admin-resources');
    await page.getByRole('button', { name: `More about ${name} renamed` }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${name} renamed.json`);
    await page.getByRole('button', { name: `More about ${name} renamed` }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await button(page, 'Delete resource').click();
    await expect.poll(() => page.getByRole('link', { name: `${name} renamed` }).count()).toBe(0);
  });

  test('new jobs are switched off and on beside a save and edits that nobody saved', async () => {
    const { id, name } = await resource(`Machine ${stamp()}`);
    const stored = async () => good<Resource>((await admin()).get(`/admin/v2/resource/${id}/`));
    const page = await asAdmin(`/v2/admin/resources/${id}/edit`);
    const puts: Route[] = [];
    await page.route(`**/admin/v2/resource/${id}`, (route) =>
      route.request().method() === 'PUT' ? void puts.push(route) : route.continue(),
    );
    const letGo = async () => {
      await expect.poll(() => puts.length).toBe(1);
      await puts.shift()!.continue();
    };
    const named = page.getByLabel('Name', { exact: true });
    await named.fill(`${name} renamed`);
    await button(page, 'Save').click();
    await expect.poll(() => puts.length).toBe(1);
    await button(page, 'Switch new jobs off').click();
    await button(page, 'Switch off').click();
    // two are never under way, or the later one would bring the old name back
    await page.waitForTimeout(300);
    await letGo();
    await letGo();
    await shows(page, /New jobs are switched off here/);
    expect(await stored()).toMatchObject({ name: `${name} renamed`, prevent_new_submissions: true });

    await named.fill(`${name} typed`);
    await button(page, 'Accept new jobs').click();
    await letGo();
    await button(page, 'Switch new jobs off').waitFor();
    expect(await named.inputValue()).toBe(`${name} typed`);
    expect(await stored()).toMatchObject({ name: `${name} renamed`, prevent_new_submissions: false });
    await button(page, 'Save').click();
    await letGo();
    await page.getByRole('heading', { name: `${name} typed` }).waitFor();
    expect(await stored()).toMatchObject({ name: `${name} typed`, prevent_new_submissions: false });
  });

  test('a profile: made, renamed, with its accounts, deleted', async () => {
    const made = await resource(`Machine ${stamp()}`);
    const page = await asAdmin(`/v2/admin/resources/${made.id}/profiles/create`);
    await page.getByLabel('Name').fill(`Everyone ${stamp()}`);
    await button(page, 'Create profile').click();
    await page.waitForURL(/\/profiles\/\d+$/);
    await shows(page, /No account has this profile yet/);
    const profile = Number(/profiles\/(\d+)/.exec(page.url())![1]);
    const anna = await person({ name: 'anna', profile_id: profile });
    await goTo(page, `/v2/admin/resources/${made.id}/profiles/${profile}`);
    await page.getByRole('link', { name: anna.email }).waitFor();
    await looksWell(page, 'admin-profile');

    await goTo(page, `/v2/admin/resources/${made.id}/profiles/${profile}/edit`);
    const renamed = `Everybody ${stamp()}`;
    await page.getByLabel('Name').fill(renamed);
    await button(page, 'Save').click();
    await page.getByRole('heading', { name: renamed }).waitFor();

    await goTo(page, `/v2/admin/resources/${made.id}/profiles`);
    await page.getByRole('button', { name: `Delete ${renamed}` }).click();
    await button(page, 'Delete profile').click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await (await admin()).patch(`/auth/users/${anna.id}/`, { profile_id: null });
    await button(page, 'Delete profile').click();
    await shows(page, 'No profiles yet');
  });
});

describe('projects change hands', () => {
  const transfer = async (page: Page, project: string, heir: string) => {
    await goTo(page, `/v2/admin/projects?name=${encodeURIComponent(project)}`);
    await page
      .getByRole('row', { name: new RegExp(project) })
      .getByRole('button', { name: 'Change owner' })
      .click();
    await page.getByRole('button', { name: /^New owner: / }).click();
    await page.getByRole('combobox', { name: 'Search in New owner' }).fill(heir);
    await page.keyboard.press('Enter');
    await button(page, 'Next').click();
  };

  test('to somebody with the same profile', async () => {
    const [anna, bert] = [await person({ name: 'anna' }), await person({ name: 'bert' })];
    const project = await anna.project(`Screen ${stamp()}`);
    const page = await asAdmin('/v2/admin/projects');
    await transfer(page, project.name, bert.email);
    await looksWell(page, 'admin-transfer');
    expect(await page.getByText('different profiles').count()).toBe(0);
    await page.getByRole('dialog').getByRole('button', { name: 'Change owner' }).click();
    await page.getByRole('cell', { name: bert.email }).waitFor();
    await looksWell(page, 'admin-projects');
  });

  test('another profile is warned of, another resource and no folder are refused', async () => {
    const anna = await person({ name: 'anna' });
    const project = await anna.project(`Screen ${stamp()}`);
    const client = await admin();
    const [own] = await good<Profile[]>(client.get('/admin/v2/profile/'));
    const body = (name: string) => ({ name: `${name} ${stamp()}`, resource_type: 'local' });
    const second = await good<Profile>(client.post(`/admin/v2/resource/${own!.resource_id}/profile/`, body('Second')));
    const elsewhere = await resource(`Machine ${stamp()}`);
    const third = await good<Profile>(client.post(`/admin/v2/resource/${elsewhere.id}/profile/`, body('Third')));
    const warned = await person({ name: 'warned', profile_id: second.id });
    const refused = await person({ name: 'refused', profile_id: third.id });

    const page = await asAdmin('/v2/admin/projects');
    await transfer(page, project.name, refused.email);
    await shows(page, /different profiles/);
    await page.getByRole('dialog').getByRole('button', { name: 'Change owner' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();

    await transfer(page, project.name, warned.email);
    await shows(page, /different profiles/);
    await page.getByRole('dialog').getByRole('button', { name: 'Change owner' }).click();
    await page.getByRole('cell', { name: warned.email }).waitFor();
  });
});

test('sharing: filters, and acceptance only for guest accounts', async () => {
  const [anna, bert] = [await person({ name: 'anna' }), await person({ name: 'bert' })];
  const guest = await person({ name: 'guest', patch: { is_guest: true } });
  const project = await anna.project(`Screen ${stamp()}`);
  for (const { email } of [bert, guest]) {
    const path = `/api/v2/project/${project.id}/guest/?email=${encodeURIComponent(email)}`;
    await good(anna.client.post(path, { permissions: 'r' }));
  }
  const page = await asAdmin(`/v2/admin/sharing?project_id=${project.id}`);
  await expect.poll(() => page.getByRole('row').count()).toBe(4);
  await looksWell(page, 'admin-sharing');
  expect(await page.getByRole('button', { name: new RegExp(`Accept .* for ${bert.email}`) }).count()).toBe(0);
  await page.getByRole('button', { name: new RegExp(`Accept .* for ${guest.email}`) }).click();
  await page.getByText(`${guest.email} is now a member of ${project.name}.`).waitFor();
  await page.getByLabel('Accepted or not').selectOption('false');
  await expect.poll(() => page.getByRole('row').count()).toBe(2);
  await page.getByRole('cell', { name: bert.email }).waitFor();
});

test('the way into the admin area and its settings', async () => {
  const waiting = await person({ name: 'waiting', profile_id: null });
  const page = await asAdmin('/v2/admin');
  await page.getByRole('link', { name: /^Running jobs/ }).waitFor();
  await page.getByRole('region', { name: 'Pending accounts' }).getByRole('link', { name: waiting.email }).waitFor();
  // disks are asked in the background
  await page.getByText(/ free of /).waitFor();
  await looksWell(page, 'admin');
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('navigation', { name: 'Admin area' }).getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  await page.getByRole('cell', { name: 'SERVICE_RUNNER_BACKEND' }).waitFor();
  await looksWell(page, 'admin-settings');
  expect(await page.getByText('set, not shown').count()).toBe(0);
  await page.getByLabel(/Show secret settings/).check();
  await shows(page, 'set, not shown');
  const found = page.getByRole('search', { name: 'Filters' });
  await found.getByRole('searchbox').fill('JWT_SECRET');
  await page.getByRole('cell', { name: /JWT_SECRET/ }).waitFor();
  await found.getByRole('checkbox').uncheck();
  await page.getByRole('heading', { name: 'No setting matches' }).waitFor();
  await button(page, 'Clear filters').click();
  await page.getByRole('cell', { name: 'SERVICE_RUNNER_BACKEND' }).waitFor();
});

test('a report of the users, of all time and of a month', async () => {
  const page = await asAdmin('/v2/admin/users-info');
  await looksWell(page, 'admin-users-info');
  const save = async () => {
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download').click()]);
    return download.suggestedFilename();
  };
  expect(await save()).toBe('users.csv');
  await page.getByLabel(/Jobs of one month/).fill('2026-10');
  expect(await save()).toBe('users-2026-10.csv');
});

test('the audit log: found by words, person and kind, narrow too, and saved as a file', async () => {
  const client = await admin();
  const name = `Audited ${stamp()}`;
  const { id } = await good<UserGroup>(client.post('/auth/group/', { name }));
  await good(client.patch(`/auth/group/${id}/`, { name: `${name} again` }));
  const page = await asAdmin('/v2/admin/audit');
  await looksWell(page, 'admin-audit');
  await page.getByRole('searchbox', { name: 'Search' }).fill(name);
  await expect.poll(() => page.getByRole('row').count()).toBe(3);
  await shows(page, `${name} → ${name} again`);
  await page.getByRole('button', { name: /^What/ }).click();
  await page.getByRole('combobox', { name: 'Search in What' }).fill('Renamed');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByRole('row').count()).toBe(2);
  const link = page.getByRole('link', { name: 'Export matches as CSV' });
  const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
  expect(download.suggestedFilename()).toBe('audit.csv');
  const lines = readFileSync(await download.path(), 'utf8')
    .trimEnd()
    .split('\r\n');
  expect(lines).toEqual([
    expect.stringMatching(/^id,timestamp/),
    expect.stringContaining(`,group.rename,group,${id},`),
  ]);
  await page.setViewportSize({ width: 390, height: 844 });
  await looksWell(page, 'admin-audit-narrow');
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  await button(page, 'Clear filters').click();
  await expect.poll(() => page.getByRole('row').count()).toBeGreaterThan(2);
});
