/** What is around every page: finding, keys, notices, errors, the profile. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { goTo, good, looksWell, openPage, person, web } from './site.ts';

const OPTION = (page: Page, name: string) => page.getByRole('option', { name });

test('an unknown address is a page that says so; /alive names both versions', async () => {
  const page = await openPage('/nothing/here');
  await page.getByRole('heading', { name: 'There is no page at this address' }).waitFor();
  await looksWell(page, 'not-found');
  expect((await page.request.get('/nothing/here')).status()).toBe(404);
  const alive = (await (await page.request.get('/alive')).json()) as Record<string, unknown>;
  expect(alive).toMatchObject({ alive: true, fractal_server_alive: true });
  const foot = await page.getByRole('contentinfo').textContent();
  expect(foot).toContain(`Client ${String(alive['version'])}`);
  expect(foot).toContain(`Server ${String(alive['fractal_server_version'])}`);
});

test('Get token puts the token on the clipboard and says so', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/v2/jobs');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: `Account of ${anna.email}` }).click();
  await page.getByRole('menuitem', { name: 'Get token' }).click();
  await page.getByText('Your token is on the clipboard.').waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(anna.token);
});

test('where a page may not write to the clipboard, Get token leads to where it is shown', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/v2/jobs');
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
  await page.getByRole('button', { name: `Account of ${anna.email}` }).click();
  await page.getByRole('menuitem', { name: 'Get token' }).click();
  await page.waitForURL('**/profile#token');
  await page.getByRole('button', { name: 'Show token' }).click();
  expect(await page.getByLabel('Your token').inputValue()).toBe(anna.token);
});

test('Ctrl K finds by name, arrow keys walk, Enter opens', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project(`Neurites ${anna.id}`);
  const dataset = await anna.dataset(project, `Plate of neurites ${anna.id}`);
  const page = await anna.open('/profile');
  await page.keyboard.press('Control+k');
  const dialog = page.getByRole('dialog', { name: 'Find anything' });
  await dialog.getByRole('combobox').pressSequentially(`neurites ${anna.id}`);
  await OPTION(page, `Plate of neurites ${anna.id}`).waitFor();
  await looksWell(page, 'find');
  expect(
    await dialog.getByRole('group').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label'))),
  ).toEqual(['Projects', 'Datasets']);
  expect(await OPTION(page, project.name).first().getAttribute('aria-selected')).toBe('true');
  await page.keyboard.press('ArrowDown');
  expect(await OPTION(page, dataset.name).getAttribute('aria-selected')).toBe('true');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/v2/projects/${project.id}/datasets/${dataset.id}`);
});

test('Ctrl K says when nothing is found, and does not show what is not for the reader', async () => {
  const [anna, ben] = [await person({ name: 'anna' }), await person({ name: 'ben' })];
  await anna.project(`Secret ${anna.id}`);
  const page = await ben.open('/profile');
  await page.getByRole('button', { name: 'Find anything' }).click();
  await page.getByRole('combobox').fill(`Secret ${anna.id}`);
  await page.getByText(`Nothing you can read has “Secret ${anna.id}” in its name.`).waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
});

test('? lists the keys; single letters can be switched off', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/profile');
  const dialog = page.getByRole('dialog', { name: 'Keyboard' });
  await page.keyboard.press('?');
  await dialog.waitFor();
  await looksWell(page, 'keys');
  await dialog.getByRole('switch', { name: 'Single letters' }).click();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.reload();
  await page.locator('html[data-ready]').waitFor();
  await page.keyboard.press('?');
  expect(await dialog.count()).toBe(0);
  // the profile has the same switch, and the list stays in the menu
  const onProfile = page.getByRole('switch', { name: 'Single letters as keys' });
  expect(await onProfile.getAttribute('aria-checked')).toBe('false');
  await page.getByRole('button', { name: `Account of ${anna.email}` }).click();
  await page.getByRole('menuitem', { name: 'Keyboard' }).click();
  await dialog.waitFor();
});

test('? is a letter like others inside a field', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/profile');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').pressSequentially('what?');
  expect(await page.getByRole('combobox').inputValue()).toBe('what?');
  expect(await page.getByRole('dialog', { name: 'Keyboard' }).count()).toBe(0);
});

test('the first Tab leads to the content', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/profile');
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to the content' });
  expect(await skip.evaluate((node) => node === document.activeElement)).toBe(true);
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('content');
});

test('at 768 px the sections are behind a menu button', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/profile', { width: 768 });
  const nav = page.getByRole('navigation', { name: 'Main' });
  expect(await nav.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Menu' }).click();
  await looksWell(page, 'menu-768');
  await page.keyboard.press('Escape');
  expect(await nav.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Menu' }).click();
  await nav.getByRole('link', { name: 'Jobs' }).click();
  await page.waitForURL('**/v2/jobs');
  expect(await nav.isVisible()).toBe(false);
});

test('light and dark are kept', async () => {
  const page = await openPage('/');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.getByRole('button', { name: 'Switch between light and dark' }).click();
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  await goTo(page, '/auth/login');
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
});

test('Back closes a dialog and stays on the page', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/v2/jobs');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Projects' }).click();
  await page.waitForURL('**/v2/projects');
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await page.evaluate(() => history.back());
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  // the browser has gone back by then, and is sent forward again
  await expect.poll(() => new URL(page.url()).pathname).toBe('/v2/projects');
  await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
});

test('own running jobs are counted; a notice tells when one ends elsewhere', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const dataset = await anna.dataset(project, 'Plate', ['a.zarr']);
  const task = await anna.task();
  const goOn = join(anna.folder, 'go-on');
  const workflow = await anna.workflow(project, 'Nuclei', [
    { task, args_parallel: { plan: { '*': { wait_for: goOn } } } },
  ]);
  const job = await anna.submit(project, workflow, dataset);
  const page = await anna.open('/profile');
  const jobs = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Jobs' });
  await expect.poll(() => jobs.textContent()).toContain('1 of your jobs running');
  await looksWell(page, 'running-job');
  writeFileSync(goOn, '');
  await anna.ended(job);
  // the page looks again when it is loaded, and the tab remembers what ran
  await page.reload();
  await page.getByRole('link', { name: `Job ${job.id}` }).waitFor();
  await looksWell(page, 'job-notice');
  expect(await jobs.textContent()).not.toContain('running');
  await page.getByRole('link', { name: `Job ${job.id}` }).click();
  await page.waitForURL(`**/v2/projects/${project.id}/jobs/${job.id}`);
});

test('without an answer of the service a bar says since when, and goes when it is back', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/profile');
  const down = (route: { abort: () => Promise<void> }) => route.abort();
  await page.route('**/api/**', down);
  await page.route('**/alive', down);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('x');
  await page.getByText(/No answer from the service since/).waitFor();
  await page.keyboard.press('Escape');
  await page.unroute('**/api/**');
  await page.unroute('**/alive');
  await page.getByRole('button', { name: 'Try now' }).click();
  await expect.poll(() => page.getByText(/No answer from the service since/).count()).toBe(0);
});

test('an error page says what could not be loaded, and Try again loads it', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/profile');
  const refuse = {
    status: 500,
    contentType: 'application/json',
    headers: { 'x-request-id': 'request-of-this-test' },
    body: '{"detail": "Something went wrong on our side."}',
  };
  await page.route('**/api/auth/current-user/**', (route) => route.fulfill(refuse));
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Jobs' }).click();
  await page.waitForURL('**/v2/jobs');
  await page.getByRole('button', { name: `Account of ${anna.email}` }).click();
  await page.getByRole('menuitem', { name: 'My profile' }).click();
  await page.getByRole('heading', { name: 'Your profile could not be loaded' }).waitFor();
  await page.getByText('request-of-this-test').waitFor();
  await looksWell(page, 'error');
  await page.unroute('**/api/auth/current-user/**');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { level: 1, name: 'My profile' }).waitFor();
});

test('the profile shows the account, its folders and an example that works', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/profile');
  await page.getByText(anna.folder).waitFor();
  expect(await page.getByRole('region', { name: 'Slurm accounts' }).count()).toBe(0);
  await looksWell(page, 'profile');
  const example = (await page.getByRole('figure', { name: 'Example' }).textContent())!;
  const [, cookie, address] = /--cookie "([^"]+)" (\S+)/.exec(example)!;
  const answer = await fetch(address!, { headers: { cookie: cookie!.replace('$TOKEN', anna.token) } });
  expect([answer.status, await answer.json()]).toEqual([200, []]);
});

test('on a cluster the profile has Slurm accounts, with errors at the account', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/v2/jobs');
  // this service has no cluster, so the answer that says so is changed on its way
  await page.route('**/profile-info*', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), resource_type: 'slurm_ssh' } });
  });
  await page.getByRole('button', { name: `Account of ${anna.email}` }).click();
  await page.getByRole('menuitem', { name: 'My profile' }).click();
  const panel = page.getByRole('region', { name: 'Slurm accounts' });
  await panel.getByRole('button', { name: 'Add account' }).click();
  await panel.getByRole('button', { name: 'Save accounts' }).click();
  await panel.getByText('Name the account, or remove it.').waitFor();
  await looksWell(page, 'profile-slurm');
  await panel.getByRole('textbox', { name: 'Account 1' }).fill('imaging');
  await panel.getByRole('button', { name: 'Add account' }).click();
  await panel.getByRole('textbox', { name: 'Account 2' }).fill('imaging');
  await panel.getByRole('button', { name: 'Save accounts' }).click();
  await expect
    .poll(() => panel.getByRole('textbox').evaluateAll((all) => all.map((one) => one.ariaInvalid)))
    .toContain('true');
  await panel.getByRole('textbox', { name: 'Account 2' }).fill('teaching');
  await panel.getByRole('button', { name: 'Save accounts' }).click();
  await page.getByText('Your Slurm accounts are saved.').waitFor();
  const { slurm_accounts } = await good<{ slurm_accounts: string[] }>(anna.client.get('/auth/current-user/'));
  expect(slurm_accounts).toEqual(['imaging', 'teaching']);
});

test('viewer paths lists the folders of the reader', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/viewer-paths');
  await page.getByText(anna.folder).waitFor();
  await looksWell(page, 'viewer-paths');
});

test('home greets those who are not signed in', async () => {
  const page = await openPage('/');
  await looksWell(page, 'home');
  await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click();
  await page.waitForURL(`${web}/auth/login`);
});
