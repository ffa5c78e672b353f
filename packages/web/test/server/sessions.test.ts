/** Signing in and out, who may open which page, impersonation: the built web server before a real API. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';

import type { DemoOffer } from '../../src/lib/projects/demo.ts';
import { type Oidc, startOidc } from '../../../server/test/support/oidc.ts';
import {
  ADMIN,
  cookieHeader,
  cookiesOf,
  folder,
  session,
  START_MS,
  startApi,
  startWeb,
  type Web,
} from './built-web.ts';

vi.setConfig({ testTimeout: 30_000 });

const MEMBER = { username: 'member@example.org', password: 'member-password' };
const VISITOR = { username: 'visitor@example.org', password: 'visitor-password' };
const STRANGER = { username: 'stranger@example.org', password: 'stranger-password' };
const INVITE = join(folder('web-files'), 'invite.html');

let oidc: Oidc;
let api: string;
let web: Web;
const ids: Record<string, number> = {};

async function askApi(path: string, method: string, body?: object): Promise<Record<string, unknown>> {
  const login = await fetch(`${api}/auth/token/login/`, { method: 'POST', body: new URLSearchParams(ADMIN) });
  const { access_token } = (await login.json()) as { access_token: string };
  const response = await fetch(api + path, {
    method,
    headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

async function register({ username, password }: typeof MEMBER, changes: object): Promise<void> {
  const given = { email: username, password, project_dirs: ['/somewhere'] };
  const { id } = await askApi('/auth/register/', 'POST', given);
  ids[username] = id as number;
  await askApi(`/auth/users/${String(id)}/`, 'PATCH', changes);
}

beforeAll(async () => {
  oidc = await startOidc();
  ({ url: api } = await startApi(oidc.settings));
  const { profile_id } = await askApi('/auth/current-user/', 'GET');
  await register(MEMBER, { is_verified: true, profile_id });
  await register(STRANGER, { is_verified: false });
  await register(VISITOR, { is_verified: true, profile_id, is_guest: true });
  writeFileSync(INVITE, '<p style="color: red">Welcome<script>alert(1)</script></p>');
  web = await startWeb(api, {
    PUBLIC_OAUTH_CLIENT_NAME: 'laboratory',
    PUBLIC_GUEST_USERNAME: 'guest@example.org',
    PUBLIC_GUEST_PASSWORD: 'guest-password',
    LOGIN_INVITE_PATH: INVITE,
    LOG_LEVEL_CONSOLE: 'info',
  });
}, START_MS);

/** What a browser is told to keep or drop under this name, in the order in which it is told. */
const linesOf = (response: Response, name = 'fastapiusersauth') =>
  response.headers
    .getSetCookie()
    .filter((line) => line.startsWith(`${name}=`))
    .map((line) => line.split('; '));
const DROPPED = 'Expires=Thu, 01 Jan 1970 00:00:00 GMT';
/** The form that every session cookie had once, for the host and all names below it. */
const EARLIER = (name = 'fastapiusersauth') =>
  expect.arrayContaining([`${name}=`, 'Domain=127.0.0.1', DROPPED, 'Path=/']) as unknown;

describe('password login', () => {
  it('sets the session cookie until the token ends and goes to the projects', async () => {
    const response = await web.post('/auth/login?/login', ADMIN);
    expect([response.status, response.headers.get('location')]).toEqual([302, '/v2/projects']);
    const token = cookiesOf(response)['fastapiusersauth']!;
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { exp: number };
    const [earlier, now, ...rest] = linesOf(response);
    expect([earlier, rest]).toEqual([EARLIER(), []]);
    const attributes = [`Expires=${new Date(exp * 1000).toUTCString()}`, 'HttpOnly', 'Path=/', 'SameSite=Lax'];
    expect(now?.sort()).toEqual([...attributes, `fastapiusersauth=${token}`].sort());
  });

  it.each([
    ['a page of ours', '/v2/projects/7?tab=jobs', '/v2/projects/7?tab=jobs'],
    ['another site', '//evil.example/x', '/v2/projects'],
  ])('comes back to %s', async (_, next, location) => {
    const response = await web.post(`/auth/login?/login&next=${encodeURIComponent(next)}`, ADMIN);
    expect(response.headers.get('location')).toBe(location);
  });

  it.each([
    ['a wrong password', { ...ADMIN, password: 'wrong' }, 'E-mail or password is wrong'],
    ['an unknown name', { username: 'nobody@example.org', password: 'x' }, 'E-mail or password is wrong'],
    ['nothing', { username: '', password: '' }, 'Signing in did not work'],
  ])('%s shows the login page again with the reason and without a cookie', async (_, given, words) => {
    const response = await web.post('/auth/login?/login', given);
    expect(response.status).toBe(400);
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(await response.text()).toContain(words);
  });

  it('shows what is wrong with the guest beside the guest button', async () => {
    const text = await (await web.post('/auth/login?/login', { username: 'guest@example.org', password: 'x' })).text();
    expect(text.indexOf('E-mail or password is wrong')).toBeGreaterThan(text.indexOf('Look around as a guest'));
  });

  it('refuses a form from another site', async () => {
    const response = await web.post('/auth/login?/login', ADMIN, { origin: 'http://evil.example' });
    expect([response.status, response.headers.getSetCookie()]).toEqual([403, []]);
  });

  it('says who is signed in and offers to sign out, which works without script', async () => {
    const cookie = await session(web);
    expect(await (await web.get('/auth/login', cookie)).text()).toContain(`You are signed in as ${ADMIN.username}`);
    const response = await web.post('/auth/login?/logout', {}, cookie);
    expect([response.status, response.headers.get('location'), cookiesOf(response)]).toEqual([302, '/', {}]);
  });

  it('shows the invitation of the operator without what could do harm, as it is now', async () => {
    expect(await (await web.get('/auth/login')).text()).toContain('<p>Welcome</p>');
    writeFileSync(INVITE, '<p>Come in</p>');
    expect(await (await web.get('/auth/login')).text()).toContain('<p>Come in</p>');
  });
});

describe('logout', () => {
  it.each([
    ['a session', () => session(web)],
    ['a dead session', async () => ({ cookie: 'fastapiusersauth=dead' })],
    ['no session', async () => ({})],
  ])('with %s expires the cookie with its attributes', async (_, cookie) => {
    const response = await web.post('/auth/token/logout', {}, await cookie());
    expect(response.status).toBe(204);
    const attributes = ['fastapiusersauth=', DROPPED, 'HttpOnly', 'Path=/', 'SameSite=Lax'];
    const [earlier, now, ...rest] = linesOf(response);
    expect([earlier, now?.sort(), rest]).toEqual([EARLIER(), attributes.sort(), []]);
  });
});

describe('the page guard', () => {
  const as = { nobody: undefined, admin: ADMIN, member: MEMBER, stranger: STRANGER };
  const login = (next: string) => `/auth/login?invalidate=true&next=${encodeURIComponent(next)}`;

  it.each<[keyof typeof as, string, number, string | null]>([
    ['nobody', '/', 200, null],
    ['nobody', '/auth/login', 200, null],
    ['nobody', '/alive', 200, null],
    ['nobody', '/profile/token?a=b', 302, login('/profile/token?a=b')],
    ['nobody', '/v2/admin/impersonate', 302, login('/v2/admin/impersonate')],
    ['nobody', '/not-here', 404, null],
    ['stranger', '/', 200, null],
    ['stranger', '/profile/token', 302, '/'],
    ['member', '/profile/token', 200, null],
    ['member', '/v2/admin/impersonate', 403, null],
    ['member', '/v2/not-here', 404, null],
    ['admin', '/profile/token', 200, null],
  ])('%s at %s: %i', async (who, path, status, location) => {
    const cookie = as[who] === undefined ? {} : await session(web, as[who]);
    const response = await web.get(path, cookie);
    expect([response.status, response.headers.get('location')]).toEqual([status, location]);
  });

  it.each<[keyof typeof as, string, number, string | null]>([
    ['member', login('/v2/projects?show=shared'), 302, '/v2/projects?show=shared'],
    ['member', login('https://elsewhere.example/'), 200, null],
    ['member', '/auth/login?next=/v2/projects', 200, null],
    ['nobody', login('/v2/projects'), 200, null],
  ])('sends who has a session by now on from the sign-in page: %s at %s', async (who, path, status, location) => {
    const cookie = as[who] === undefined ? {} : await session(web, as[who]);
    const response = await web.get(path, cookie);
    expect([response.status, response.headers.get('location')]).toEqual([status, location]);
  });

  it('refuses what a member posts to the admin area', async () => {
    const response = await web.post('/v2/admin/impersonate', { user_id: '1' }, await session(web, MEMBER));
    expect([response.status, response.headers.getSetCookie()]).toEqual([403, []]);
  });

  it('takes a dead token for no session', async () =>
    expect((await web.get('/profile/token', { cookie: 'fastapiusersauth=dead' })).headers.get('location')).toBe(
      login('/profile/token'),
    ));

  it('gives the token as text to whom it belongs', async () => {
    const cookie = await session(web, MEMBER);
    const response = await web.get('/profile/token', cookie);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(cookie.cookie.split('; ')).toContain(`fastapiusersauth=${await response.text()}`);
  });
});

describe('the demo', () => {
  const tasks = join(import.meta.dirname, '../../../demo-tasks');

  it('is handed out to members: the package as it is built from its sources, and workflows that need it', async () => {
    const member = await session(web, MEMBER);
    const target = folder('web-demo');
    execFileSync('python3', [join(tasks, 'build_backend.py'), target]);
    const offer = (await (await web.get('/demo/workflow', member)).json()) as DemoOffer;
    expect(offer).toMatchObject({
      project: 'Demo',
      package: { pkg_name: 'demo-tasks', version: '0.1.0', file_name: readdirSync(target)[0] },
      workflows: [
        { dataset: 'Demo plate', ends: 'done', plate: { plate_name: 'demo', layout: { rows: 2, columns: 3 } } },
        { dataset: 'Demo plate with a failure', ends: 'failed' },
      ],
    });
    expect(offer.workflows[0]!.workflow).toMatchObject({
      name: 'Measure nuclei',
      task_list: [
        { task: { pkg_name: 'demo-tasks', version: '0.1.0', name: 'Make Demo Plate' } },
        ...Array.from({ length: 5 }, () => ({ task: { pkg_name: 'demo-tasks' } })),
      ],
    });
    const wheel = await web.get('/demo/package', member);
    expect(wheel.headers.get('content-disposition')).toBe(`attachment; filename="${offer.package.file_name}"`);
    expect(Buffer.from(await wheel.arrayBuffer())).toEqual(readFileSync(join(target, offer.package.file_name)));
  });

  it.each<[string, typeof MEMBER | undefined, number]>([
    ['nobody', undefined, 401],
    ['a stranger', STRANGER, 403],
    ['a guest', VISITOR, 403],
  ])('%s is told in words that a script can read', async (_, who, status) => {
    const accept = { accept: 'application/json' };
    const headers = who === undefined ? accept : { ...accept, ...(await session(web, who)) };
    for (const path of ['/demo/workflow', '/demo/package']) {
      const response = await web.get(path, headers);
      expect([response.status, await response.json()]).toEqual([status, { status, message: expect.any(String) }]);
    }
  });
});

describe('impersonation', () => {
  const whoIs = async (cookie: { cookie: string }) =>
    ((await (await web.get('/api/auth/current-user', cookie)).json()) as { email: string }).email;

  it('goes on as the other, keeps the own token aside, and returns', async () => {
    const own = cookiesOf(await web.post('/auth/login?/login', ADMIN));
    const response = await web.post(
      '/v2/admin/impersonate',
      { user_id: String(ids[MEMBER.username]) },
      cookieHeader(own),
    );
    expect([response.status, response.headers.get('location')]).toEqual([302, '/v2/projects']);
    const both = cookiesOf(response);
    expect(both['fastapiusersauth_own']).toBe(own['fastapiusersauth']);
    expect(linesOf(response, 'fastapiusersauth_own').at(-1)).toContain('HttpOnly');
    expect(await whoIs(cookieHeader(both))).toBe(MEMBER.username);

    const returned = await web.post('/auth/login?/return', {}, cookieHeader(both));
    expect([returned.status, returned.headers.get('location')]).toEqual([302, '/v2/admin']);
    expect(cookiesOf(returned)).toEqual({ fastapiusersauth: own['fastapiusersauth'] });
    expect(returned.headers.getSetCookie().some((line) => line.startsWith('fastapiusersauth_own=;'))).toBe(true);
  });

  it('is over, with both cookies, after logout', async () => {
    const cookie = await session(web);
    const response = await web.post('/v2/admin/impersonate', { user_id: String(ids[MEMBER.username]) }, cookie);
    const after = await web.post('/auth/token/logout', {}, cookieHeader(cookiesOf(response)));
    for (const name of ['fastapiusersauth', 'fastapiusersauth_own'])
      expect(linesOf(after, name)).toEqual([EARLIER(name), expect.arrayContaining([`${name}=`, DROPPED])]);
    expect(cookiesOf(after)).toEqual({});
  });

  it.each([
    ['somebody who is not there', '999999'],
    ['nobody', ''],
    ['something else', '1/../2'],
  ])('of %s fails and leaves the session as it is', async (_, user_id) => {
    const response = await web.post(
      '/v2/admin/impersonate',
      { user_id },
      {
        ...(await session(web)),
        accept: 'application/json',
      },
    );
    expect([response.status, response.headers.getSetCookie()]).toEqual([400, []]);
    expect(await response.text()).toContain('problem');
  });

  it('cannot be returned from without an own token', async () => {
    const response = await web.post('/auth/login?/return', {}, await session(web));
    expect([response.headers.get('location'), response.headers.getSetCookie()]).toEqual(['/auth/login', []]);
  });
});

describe('external login', () => {
  /** From the login page to the provider and back: what the browser then asks for. */
  async function comeBack(login: string): Promise<{ search: string; cookie: Record<string, string> }> {
    const response = await web.get('/api/auth/laboratory/authorize');
    const { authorization_url } = (await response.json()) as { authorization_url: string };
    const address = await oidc.visit(authorization_url, { login });
    return { search: address.search, cookie: cookieHeader(cookiesOf(response)) };
  }

  it.each(['/auth/login/oauth2', '/auth/login/oauth2/'])('ends at %s with a session', async (path) => {
    oidc.people.set('ada', { email: ADMIN.username });
    const { search, cookie } = await comeBack('ada');
    const response = await web.get(path + search, cookie);
    expect([response.status, response.headers.get('location')]).toEqual([302, '/v2/projects']);
    expect(await (await web.get('/auth/login', cookieHeader(cookiesOf(response)))).text()).toContain(ADMIN.username);
  });

  it('of a new account tells on the home page, once, what comes next', async () => {
    oidc.people.set('new', { email: 'new@example.org' });
    const { search, cookie } = await comeBack('new');
    const response = await web.get(`/auth/login/oauth2${search}`, cookie);
    expect([response.status, response.headers.get('location')]).toEqual([302, '/']);
    const notice = cookiesOf(response);
    expect(Object.keys(notice)).toEqual(['service_notice']);
    const home = await web.get('/', cookieHeader(notice));
    expect(await home.text()).toContain(decodeURIComponent(notice['service_notice']!).slice(0, 30));
    expect(home.headers.getSetCookie()[0]).toMatch(/^service_notice=; .*Max-Age=0/);
  });

  it.each([
    ['without a query', ''],
    ['with a query that nobody gave', '?code=x&state=y'],
  ])('%s gives no session', async (_, search) => {
    const response = await web.get(`/auth/login/oauth2${search}`);
    expect(cookiesOf(response)['fastapiusersauth']).toBeUndefined();
    expect(response.status).toBe(search === '' ? 400 : 302);
  });
});

it('neither tokens nor passwords are in the log', () => {
  expect(web.output()).toContain('PUBLIC_GUEST_PASSWORD=***');
  expect(web.output()).not.toMatch(/eyJ|admin-password|guest-password/);
});
