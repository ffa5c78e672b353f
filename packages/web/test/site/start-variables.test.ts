/** What depends on variables that the web server is started with: guests, external accounts, help, the runner. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { User } from '@service/contract';

import { startOidc } from '../../../server/test/support/oidc.ts';
import { ADMIN, START_MS, startApi, startWeb, type Web } from '../server/built-web.ts';
import { LONG } from '../../../server/test/support/long.ts';
import { admin, api, asAdmin, good, looksWell, openPage, PASSWORD, person } from './site.ts';

let guest: User;
let web: Web;

beforeAll(async () => {
  guest = await person({ name: 'visitor', patch: { is_guest: true } });
  const owner = await person({ name: 'owner' });
  const project = await owner.project('For visitors');
  await good(
    owner.client.post(`/api/v2/project/${project.id}/guest/?email=${encodeURIComponent(guest.email)}`, {
      permissions: 'r',
    }),
  );
  const link = `guest_user_id=${guest.id}&project_id=${project.id}`;
  await good((await admin()).post(`/admin/v2/linkuserproject/verify/?${link}`));
  web = await startWeb(api, {
    PUBLIC_GUEST_USERNAME: guest.email,
    PUBLIC_GUEST_PASSWORD: PASSWORD,
    PUBLIC_SERVICE_NAME: 'Imaging facility',
    PUBLIC_SERVICE_ADMIN_SUPPORT_EMAIL: 'help@example.org',
    PUBLIC_SERVICE_DATA_URL: 'https://data.example.org',
    PUBLIC_SERVICE_VIZARR_VIEWER_URL: 'https://viewer.example.org',
    SERVICE_RUNNER_BACKEND: 'slurm_ssh',
  });
}, START_MS);

test('the guest button signs in and shows what is shared', async () => {
  const page = await openPage(`${web.url}/auth/login`);
  await page.getByText('Imaging facility').waitFor();
  await looksWell(page, 'login-guest');
  await page.getByRole('button', { name: 'Look around as a guest' }).click();
  await page.getByRole('button', { name: `Account of ${guest.email}` }).waitFor();
  const shared = page.getByRole('button', { name: /^Shared with me/ });
  expect(await shared.getAttribute('aria-pressed')).toBe('true');

  await page.goto(`${web.url}/profile`);
  await page.getByText(/^Guest accounts are read-only.* to change them\.$/).waitFor();
  await page.getByRole('button', { name: `Account of ${guest.email}` }).click();
  await page.getByRole('menuitem', { name: 'Viewer paths' }).click();
  await page.getByText('https://viewer.example.org').waitFor();
  await looksWell(page, 'viewer-paths-set-up');
});

test('home names the deployment and the support address; without the variable there is no help', async () => {
  const page = await openPage(web.url);
  expect(await page.title()).toBe('Imaging facility');
  await page.getByText('Imaging facility').waitFor();
  await page.getByRole('link', { name: 'help@example.org' }).waitFor();
  expect(await page.getByRole('link', { name: 'User guide' }).count()).toBe(0);
});

test('resources are of the kind that jobs run on; others can only be read', async () => {
  const [first] = await good<{ id: number }[]>((await admin()).get('/admin/v2/resource/'));
  const page = await asAdmin(`${web.url}/v2/admin/resources/create`);
  await page.getByLabel('Login node').waitFor();
  await page.getByLabel('Jobs, maximum').waitFor();
  await looksWell(page, 'admin-resource-slurm');
  await page.goto(`${web.url}/v2/admin/resources/${first!.id}/edit`);
  await page.getByText('It can be read and deleted, but not changed or used here.').waitFor();
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  expect(await page.getByLabel('Name', { exact: true }).getAttribute('readonly')).not.toBeNull();
  await looksWell(page, 'admin-resource-read-only');
});

test('no page breaks the security policy', async () => {
  const page = await openPage(`${web.url}/auth/login`);
  const broken: string[] = [];
  page.on('console', (message) => message.text().includes('Content Security Policy') && broken.push(message.text()));
  await page.getByRole('button', { name: 'Look around as a guest' }).click();
  await page.getByRole('button', { name: `Account of ${guest.email}` }).waitFor();
  for (const path of ['/', '/profile', '/viewer-paths', '/healthcheck', '/help', '/nothing']) {
    await page.goto(web.url + path);
    await page.locator('html[data-ready]').waitFor();
  }
  expect(broken).toEqual([]);
});

/** The provider only knows a loopback address with this path; from there people go on to the page of the client. */
async function wayBack(): Promise<{ address: string; leadTo(url: string): void }> {
  let target = '';
  const server = createServer((request, response) => {
    const { search } = new URL(request.url!, 'http://127.0.0.1');
    response.writeHead(302, { location: `${target}/auth/login/oauth2${search}` }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}/auth/laboratory/callback/`,
    leadTo: (url) => {
      target = url;
    },
  };
}

test.runIf(LONG)(
  'a new external account reads on home what comes next',
  async () => {
    const oidc = await startOidc();
    const back = await wayBack();
    const own = await startApi({ ...oidc.settings, OAUTH_REDIRECT_URL: back.address });
    const other = await startWeb(own.url, { PUBLIC_OAUTH_CLIENT_NAME: 'laboratory' });
    back.leadTo(other.url);
    oidc.people.set('new', { email: 'new@example.org' });
    oidc.people.set('chief', { email: ADMIN.username });

    async function signIn(login: string) {
      const page = await openPage(`${other.url}/auth/login?next=%2Fprofile`);
      await page.getByRole('button', { name: 'Sign in with your institution' }).click();
      await page.locator('input[name=login]').fill(login);
      await page.locator('form').evaluate((form: HTMLFormElement) => form.submit());
      return page;
    }

    const page = await openPage(`${other.url}/auth/login`);
    await looksWell(page, 'login-external');
    const registered = await signIn('new');
    await registered.waitForURL(`${other.url}/`);
    const notice = registered.getByRole('main').getByRole('status');
    expect((await notice.textContent())!.trim().length).toBeGreaterThan(20);
    await looksWell(registered, 'home-registered');
    await registered.reload();
    expect(await notice.count()).toBe(0);

    // somebody with an account comes back to where they wanted to go
    const known = await signIn('chief');
    await known.waitForURL(`${other.url}/profile`);
    await known.getByText(`: ${ADMIN.username}`).waitFor();
  },
  START_MS,
);
