/** Personal access tokens on the profile page, and signing out everywhere. */
import { expect, test } from 'vitest';

import { clientOf } from '../../../server/test/support/server.ts';
import { ADMIN, api, asAdmin, looksWell, openPage, PASSWORD, person, tokenOf, web } from './site.ts';

const ME = '/auth/current-user/';

test('a token is made, shown once, used and revoked', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/profile');
  await page.getByRole('button', { name: 'New token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('notebook');
  await dialog.getByLabel('Run jobs').check();
  await looksWell(page, 'token-new');
  await dialog.getByRole('button', { name: 'Create token' }).click();
  await page.getByText('It won’t be shown again').waitFor();
  const token = await dialog.getByLabel('Token', { exact: true }).inputValue();
  expect(token).toMatch(/^svc_/);
  await looksWell(page, 'token-made');
  await dialog.getByRole('button', { name: 'Done' }).click();
  expect(await page.content()).not.toContain(token);

  // at the API, and through the web server as a cookie
  expect((await clientOf(api, token).get(ME)).body.id).toBe(anna.id);
  const through = await fetch(`${web}/api/auth/current-user/`, { headers: { cookie: `fastapiusersauth=${token}` } });
  expect(through.status).toBe(200);

  const row = page.getByRole('row', { name: /notebook/ });
  await expect
    .poll(async () => {
      await page.reload();
      return row.innerText();
    })
    .toMatch(/Run jobs\s+just now/);
  await page.getByRole('button', { name: 'Revoke notebook' }).click();
  await page.getByRole('button', { name: 'Revoke token' }).click();
  await row.getByText('Revoked today').waitFor();
  await page.getByRole('heading', { name: 'Personal access tokens' }).scrollIntoViewIfNeeded();
  await looksWell(page, 'tokens');
  expect((await clientOf(api, token).get(ME)).status).toBe(401);
});

test('what is wrong with a new token is said at its field', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/profile');
  const make = async (name: string, day: string) => {
    await page.getByRole('button', { name: 'New token' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByLabel('Valid until').fill(day);
    await dialog.getByRole('button', { name: 'Create token' }).click();
    return dialog;
  };
  const tooFar = await make('far', '2199-01-01');
  await tooFar.getByText('at most 366 days').waitFor();
  await tooFar.getByRole('button', { name: 'Cancel' }).click();
  const soon = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
  await (await make('twice', soon)).getByRole('button', { name: 'Done' }).click();
  await (await make('twice', soon)).getByText('You have a token named "twice"').waitFor();
});

test('signing out everywhere ends this session and all others', async () => {
  const anna = await person({ name: 'anna' });
  const other = await anna.open('/profile');
  const page = await openPage('/profile', await tokenOf(anna.email));
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await looksWell(page, 'sign-out-everywhere');
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByText('You are signed out everywhere.').waitFor();
  await looksWell(page, 'signed-out-everywhere');
  await other.reload();
  await other.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect((await anna.client.get(ME)).status).toBe(401);
});

test('an administrator signs somebody out everywhere', async () => {
  const anna = await person({ name: 'anna' });
  const page = await asAdmin(`/v2/admin/users/${anna.id}`);
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await looksWell(page, 'admin-sign-out');
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByText(`${anna.email} is signed out everywhere.`).waitFor();
  expect((await anna.client.get(ME)).status).toBe(401);
});

test('an administrator who changes the own password stays signed in, and other sessions end', async () => {
  const otto = await person({ name: 'otto', patch: { is_superuser: true } });
  const page = await openPage(`/v2/admin/users/${otto.id}/edit`, await tokenOf(otto.email));
  await page.getByLabel('New password').fill('another-password');
  const again = page.getByLabel(/once more|Confirm/);
  if ((await again.count()) > 0) await again.fill('another-password');
  await page.getByRole('button', { name: /^Save/ }).click();
  // with the answer comes the session that goes on
  await page.getByText('Saved.').waitFor();
  expect((await otto.client.get(ME)).status).toBe(401);
  await page.goto(`${web}/profile`);
  await page.getByRole('heading', { name: 'My profile' }).waitFor();
});

test('a browser keeps a note of its sign-in, which no script can read', async () => {
  const anna = await person({ name: 'anna' });
  const page = await openPage('/auth/login');
  await page.getByLabel('E-mail').fill(anna.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL('**/v2/projects');
  const cookies = await page.context().cookies();
  expect(cookies.find(({ name }) => name === 'fastapiusersauth_device')).toMatchObject({ httpOnly: true, path: '/' });
});

test('guests see why they make no tokens', async () => {
  const guest = await person({ name: 'guest', patch: { is_guest: true } });
  const page = await guest.open('/profile');
  await page.getByText(/^Guest accounts are read-only.* to make tokens\.$/).waitFor();
  expect(await page.getByRole('button', { name: /New token|Sign out everywhere/ }).count()).toBe(0);
  expect(guest.email).not.toBe(ADMIN);
});
