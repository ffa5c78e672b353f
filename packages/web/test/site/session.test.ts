/** Signing in and out, sessions that end, accounts that are not ready. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import type { User } from '@service/contract';

import {
  ADMIN,
  ADMIN_PASSWORD,
  admin,
  good,
  goTo,
  looksWell,
  openPage,
  PASSWORD,
  person,
  tokenOf,
  web,
} from './site.ts';

const SESSION = 'fastapiusersauth';

async function signIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** As when the session ends: the browser drops the cookie. */
const loseSession = (page: Page) => page.context().clearCookies({ name: SESSION });

const path = (page: Page) => new URL(page.url()).pathname;

test('sign in, open the login page again, sign out', async () => {
  const anna = await person({ name: 'anna' });
  const page = await openPage('/auth/login');
  await looksWell(page, 'login');
  await signIn(page, anna.email);
  await page.waitForURL('**/v2/projects');
  await page.getByRole('button', { name: `Account of ${anna.email}` }).waitFor();

  await goTo(page, '/auth/login');
  await page.getByText(`You are signed in as ${anna.email}.`).waitFor();
  await looksWell(page, 'login-signed-in');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${web}/`);
  await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).waitFor();
  expect((await page.context().cookies()).filter(({ name }) => name === SESSION)).toEqual([]);
});

test('a cookie of an earlier version, for the host and all names below it, goes with the first sign-in', async () => {
  const anna = await person({ name: 'anna' });
  // a name, since an address has no names below it; Chromium finds it on this machine
  const host = 'lab.localhost';
  const page = await openPage('/');
  const earlier = { name: SESSION, value: 'of.an.earlier-version', domain: `.${host}`, path: '/', httpOnly: true };
  await page.context().addCookies([earlier]);
  await goTo(page, `${web.replace(/\/\/[^:]+/, `//${host}`)}/auth/login`);
  const kept = async () =>
    (await page.context().cookies()).filter(({ name }) => name === SESSION).map(({ domain }) => domain);
  expect(await kept()).toEqual([`.${host}`]);
  await signIn(page, anna.email);
  await page.waitForURL('**/v2/projects');
  await page.getByRole('button', { name: `Account of ${anna.email}` }).waitFor();
  expect(await kept()).toEqual([host]);
});

test('sign out from the menu', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/profile');
  await page.getByRole('button', { name: `Account of ${anna.email}` }).click();
  await looksWell(page, 'account-menu');
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).waitFor();
  await goTo(page, '/auth/login');
  expect(await page.getByText('Your session has ended').count()).toBe(0);
});

test('session lost, then navigation: login page with the notice, then on to the page', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/profile');
  await loseSession(page);
  await page.getByRole('link', { name: 'Jobs' }).click();
  await page.getByText('Your session has ended.').waitFor();
  await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).waitFor();
  await looksWell(page, 'login-ended');
  await signIn(page, anna.email);
  await page.waitForURL('**/v2/jobs');
});

test('session lost, then reload: login page with the notice, then back to the page with its filters', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/v2/projects?name=neu');
  await loseSession(page);
  await page.reload();
  await page.getByText('Your session has ended.').waitFor();
  await signIn(page, anna.email);
  await page.waitForURL('**/v2/projects?name=neu');
});

test('session lost, then a form: login dialog, then the form goes through with nothing typed again', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/v2/projects');
  await page.getByRole('button', { name: 'New project' }).first().click();
  await page.getByLabel('Name').fill('Kept while away');
  await loseSession(page);
  await page.getByRole('button', { name: 'Create project' }).click();

  const dialog = page.getByRole('dialog', { name: 'Sign in to continue' });
  await dialog.waitFor();
  expect(await dialog.getByLabel('E-mail').inputValue()).toBe(anna.email);
  await looksWell(page, 'sign-in-dialog');

  await dialog.getByLabel('Password').fill('not this one');
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await dialog.getByText('E-mail or password is wrong').waitFor();
  await dialog.getByLabel('Password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(/\/v2\/projects\/\d+$/);
  await page.getByRole('heading', { name: 'Kept while away' }).waitFor();
});

test('a form that is not signed in for again says so, and keeps what was typed', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/v2/projects');
  await page.getByRole('button', { name: 'New project' }).first().click();
  await page.getByLabel('Name').fill('Not yet');
  await loseSession(page);
  await page.getByRole('button', { name: 'Create project' }).click();
  await page.getByRole('button', { name: 'Not now' }).click();
  await page.getByText('Your session has ended, and nothing was sent.').waitFor();
  expect(await page.getByLabel('Name').inputValue()).toBe('Not yet');
});

test('as somebody else one begins with a fresh page', async () => {
  const [anna, ben] = [await person({ name: 'anna' }), await person({ name: 'ben' })];
  const page = await anna.open('/v2/projects');
  await page.getByRole('button', { name: 'New project' }).first().click();
  await page.getByLabel('Name').fill('Of Anna');
  await loseSession(page);
  await page.getByRole('button', { name: 'Create project' }).click();
  const dialog = page.getByRole('dialog', { name: 'Sign in to continue' });
  await dialog.getByLabel('E-mail').fill(ben.email);
  await dialog.getByLabel('Password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: `Account of ${ben.email}` }).waitFor();
  expect(await good<unknown[]>(ben.client.get('/api/v2/project/'))).toEqual([]);
});

test('a session that begins again in another tab is enough', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/v2/projects');
  await page.getByRole('button', { name: 'New project' }).first().click();
  await page.getByLabel('Name').fill('Two tabs');
  await loseSession(page);
  await page.getByRole('button', { name: 'Create project' }).click();
  await page.getByRole('dialog', { name: 'Sign in to continue' }).waitFor();
  await page.context().addCookies([{ name: SESSION, value: anna.token, url: web }]);
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await page.waitForURL(/\/v2\/projects\/\d+$/);
});

test('session lost while somebody only looks: the stream ends, the login dialog opens, then news come again', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const workflow = await anna.workflow(project, 'Watched', [{ task: await anna.task() }]);
  const dataset = await anna.dataset(project, 'Plate', ['a']);
  const page = await anna.open(`/v2/projects/${project.id}`);
  const events = /\/api\/v2\/project\/\d+\/events/;
  await loseSession(page);
  // as at the end of a session: the stream is over, and the browser asks for it again
  await page.route(events, (route) =>
    route.fulfill({ contentType: 'text/event-stream', body: 'retry: 100\n\n' }).then(() => page.unroute(events)),
  );
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { value: true, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
    Object.defineProperty(document, 'hidden', { value: false, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  });

  const dialog = page.getByRole('dialog', { name: 'Sign in to continue' });
  await dialog.waitFor();
  await dialog.getByLabel('Password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  await anna.submit(project, workflow, dataset);
  await page.getByRole('row').filter({ hasText: 'Watched' }).getByText('Done').waitFor();
});

test('an inactive account gets the same answer as a wrong password', async () => {
  const gone = await person({ name: 'gone', patch: { is_active: false } });
  const page = await openPage('/auth/login');
  await signIn(page, gone.email);
  const inactive = await page.getByRole('alert').textContent();
  await signIn(page, gone.email, 'not this one');
  await expect.poll(() => page.getByRole('alert').textContent()).toBe(inactive);
  expect(inactive).toContain('E-mail or password is wrong');
});

test.each([
  ['unverified', { patch: { is_verified: false } }],
  ['without a profile', { profile_id: null }],
])('somebody %s sees why, and other pages lead there', async (_, fields) => {
  const newcomer = await person({ name: 'new', ...fields });
  const page = await openPage('/auth/login');
  await signIn(page, newcomer.email);
  await page.waitForURL(`${web}/`);
  await page.getByText('isn’t set up yet').waitFor();
  await looksWell(page, 'home-not-ready');
  await goTo(page, '/v2/projects');
  expect(path(page)).toBe('/');
});

test('an administrator without a profile lands in the admin area; a profile unlocks the rest', async () => {
  const chief = await person({ name: 'chief', profile_id: null, patch: { is_superuser: true } });
  const page = await openPage('/auth/login?next=%2Fv2%2Fprojects');
  await signIn(page, chief.email);
  await page.waitForURL('**/v2/admin');
  // nothing is offered that needs a profile
  const offered = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
  expect(await offered.allInnerTexts()).toEqual(['Admin']);
  expect(await page.getByRole('button', { name: 'Find anything' }).count()).toBe(0);
  await goTo(page, '/v2/projects');
  await page.getByText('You have no profile yet').waitFor();
  await looksWell(page, 'error-no-profile');
  expect(await page.getByRole('link', { name: 'To users' }).getAttribute('href')).toBe('/v2/admin/users');

  const client = await admin();
  const [profile] = await good<{ id: number }[]>(client.get('/admin/v2/profile/'));
  await good<User>(chief.client.patch(`/auth/users/${chief.id}/`, { profile_id: profile!.id }));
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
});

test('sign-out asks before unsaved edits are dropped', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/profile');
  const draft = `draft:${encodeURIComponent(anna.email)}:7:arguments`;
  await page.evaluate((key) => localStorage.setItem(key, '{"revision":1,"kept_at":"2026-01-01","values":{}}'), draft);
  const kept = () => page.evaluate((key) => localStorage.getItem(key) !== null, draft);
  const ask = async () => {
    await page.getByRole('button', { name: `Account of ${anna.email}` }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    return page.getByRole('dialog', { name: 'Sign out?' });
  };

  const dialog = await ask();
  await dialog.getByText('1 unsaved edit').waitFor();
  await looksWell(page, 'sign-out');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(await kept()).toBe(true);
  await (await ask()).getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).waitFor();
  expect(await kept()).toBe(false);
});

test('impersonation is marked, and Return goes back to the own account', async () => {
  const anna = await person({ name: 'anna' });
  const page = await openPage('/v2/admin', await tokenOf(ADMIN, ADMIN_PASSWORD));
  const posted = await page.request.post('/v2/admin/impersonate', {
    form: { user_id: String(anna.id) },
    headers: { origin: web },
  });
  expect(posted.ok()).toBe(true);
  await goTo(page, '/profile');
  await page.getByText(`Impersonating ${anna.email}`).waitFor();
  await looksWell(page, 'impersonation');
  await page.getByRole('button', { name: 'Return to your account' }).click();
  await page.waitForURL('**/v2/admin');
  await page.getByRole('button', { name: `Account of ${ADMIN}` }).waitFor();
  expect(await page.getByText('Impersonating').count()).toBe(0);
});
