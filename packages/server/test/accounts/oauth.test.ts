import { decodeJwt, SignJWT } from 'jose';
import { inspect } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';

import type { AuditRecord } from '@service/contract';

import { createProvider } from '../../src/accounts/index.ts';
import { createService } from '../../src/service.ts';
import { readSettings, SettingsError } from '../../src/settings/index.ts';
import { type BuiltInProviders, startBuiltInProviders } from '../support/built-in-providers.ts';
import { untilWaiting } from '../support/locks.ts';
import {
  comeBack,
  cookieIn,
  handIn,
  type Oidc,
  type Returned,
  signIn,
  startOidc,
  WEB_CLIENT_PAGE,
  WEB_CLIENT_PAGE_WITH_QUERY,
} from '../support/oidc.ts';
import { ADMIN, type Answer, startService, type TestService } from '../support/server.ts';
import { RECIPIENTS, SENDER, type Smtp, startSmtp } from '../support/smtp.ts';

const CSRF_COOKIE = 'fastapiusersoauthcsrf';
const STATE_AUDIENCE = 'fastapi-users:oauth-state';
const HELP_URL = 'https://help.example.org/accounts';
const COOKIE_SECONDS = 7200;

let oidc: Oidc;
let smtp: Smtp;
let service: TestService;
beforeAll(async () => {
  oidc = await startOidc();
  smtp = await startSmtp();
  service = await startService({
    settings: {
      ...oidc.settings,
      ...smtp.settings,
      SERVICE_HELP_URL: HELP_URL,
      COOKIE_EXPIRE_SECONDS: String(COOKIE_SECONDS),
    },
  });
});

/** Someone with an account here, and one of the same address with the provider. */
async function personWithBoth(login: string, email = `${login}@example.org`) {
  oidc.people.set(login, { email });
  return service.person({ email });
}

const usersOf = async ({ admin }: TestService) => (await admin.get('/auth/users/')).body as { email: string }[];
const accountsOf = async ({ admin }: TestService, id: number) =>
  (await admin.get(`/auth/users/${id}/`)).body.oauth_accounts as { account_email: string; oauth_name: string }[];
const whoIs = async ({ anyone }: TestService, answer: Answer) =>
  (await anyone.get('/auth/current-user/', { headers: { cookie: cookieIn(answer).cookie } })).body.email as string;
const refusal = ({ status, body }: Answer) => [status, body?.detail];

describe('authorize', () => {
  const parametersOf = async ({ anyone }: TestService, path: string, headers = {}) => {
    const { body } = await anyone.get(path, { headers });
    return Object.fromEntries(new URL(body.authorization_url as string).searchParams);
  };

  it("answers the provider's address with all it needs to know", async () => {
    const { status, body } = await service.anyone.get(oidc.authorize);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['authorization_url']);
    const url = new URL(body.authorization_url as string);
    expect(url.origin + url.pathname).toBe(`${oidc.issuer}/auth`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: oidc.clientId,
      redirect_uri: WEB_CLIENT_PAGE,
      scope: 'openid email',
      state: expect.any(String),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
  });

  it('ties the state to a cookie of the browser, for an hour', async () => {
    const answer = await service.anyone.get(oidc.authorize);
    expect(answer.headers.getSetCookie()).toHaveLength(1);
    const { cookie, value, attributes } = cookieIn(answer);
    expect(cookie).toMatch(new RegExp(`^${CSRF_COOKIE}=[\\w-]{43}$`));
    expect(attributes).toEqual(['HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=lax', 'Secure']);
    const claims = decodeJwt(new URL(answer.body.authorization_url as string).searchParams.get('state')!);
    expect(claims).toEqual({ csrftoken: value, aud: STATE_AUDIENCE, exp: expect.any(Number) });
    expect(Math.abs(claims.exp! - Date.now() / 1000 - 3600)).toBeLessThan(10);
  });

  it('begins every sign-in with secrets of its own', async () => {
    const [one, other] = [await parametersOf(service, oidc.authorize), await parametersOf(service, oidc.authorize)];
    expect(one['state']).not.toBe(other['state']);
    expect(one['code_challenge']).not.toBe(other['code_challenge']);
  });

  it('replaces the scopes by those of the request', async () => {
    const { scope } = await parametersOf(service, `${oidc.authorize}?scopes=openid&scopes=profile&scopes=a%20b`);
    expect(scope).toBe('openid profile a b');
  });

  it('sends no code challenge to a provider that does not know it, and signs in there all the same', async () => {
    const plain = await startOidc({ challenge: false });
    const other = await startService({ settings: plain.settings });
    expect(Object.keys(await parametersOf(other, plain.authorize)).sort()).toEqual(
      ['client_id', 'redirect_uri', 'response_type', 'scope', 'state'].sort(),
    );
    plain.people.set('admin', { email: ADMIN.email });
    expect((await signIn(other, plain, 'admin')).status).toBe(204);
  });

  it('lets people come back to the service itself where no redirect address is set', async () => {
    const { OAUTH_REDIRECT_URL: _, ...settings } = oidc.settings;
    const other = await startService({ settings: { ...settings, SERVICE_TRUSTED_PROXIES: '127.0.0.1' } });
    expect((await parametersOf(other, oidc.authorize))['redirect_uri']).toBe(other.url + oidc.callback);
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'service.example.org' };
    expect((await parametersOf(other, oidc.authorize, forwarded))['redirect_uri']).toBe(
      `https://service.example.org${oidc.callback}`,
    );
    oidc.people.set('admin at home', { email: ADMIN.email });
    const returned = await comeBack(other, oidc, 'admin at home');
    expect(returned.redirect.origin + returned.redirect.pathname).toBe(other.url + oidc.callback);
    expect((await handIn(other, oidc, returned)).status).toBe(204);
  });
});

describe('a sign-in', () => {
  it('answers nothing but a cookie, whose token works as cookie and as header', async () => {
    const person = await personWithBoth('ada');
    const answer = await signIn(service, oidc, 'ada');
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers.getSetCookie()).toHaveLength(1);
    const { cookie, value, attributes } = cookieIn(answer);
    expect(cookie).toBe(`fastapiusersauth=${value}`);
    expect(attributes).toEqual(['HttpOnly', 'Path=/', 'SameSite=none', 'Secure']);
    const claims = decodeJwt(value);
    expect(claims).toEqual({ sub: String(person.id), aud: ['fastapi-users:auth'], exp: expect.any(Number) });
    expect(Math.abs(claims.exp! - Date.now() / 1000 - COOKIE_SECONDS)).toBeLessThan(10);
    const ways: Record<string, string>[] = [{ cookie }, { authorization: `Bearer ${value}` }];
    for (const headers of ways) {
      const me = await service.anyone.get('/auth/current-user/', { headers });
      expect([me.status, me.body.id]).toEqual([200, person.id]);
    }
  });

  it('that ties an external account to one here is in the audit log, once', async () => {
    const person = await personWithBoth('audited');
    for (let time = 0; time < 2; time++) expect((await signIn(service, oidc, 'audited')).status).toBe(204);
    const { body } = await service.admin.get('/admin/v2/audit/', { query: { action: 'user.link_account' } });
    const records = (body.items as AuditRecord[]).filter(({ object_id }) => object_id === person.id);
    expect(records).toMatchObject([
      {
        ...{ user_id: person.id, user_email: person.email, as_user_id: null, via: 'session', address: '127.0.0.1' },
        object_name: person.email,
        details: { provider: 'openid', account_id: expect.any(String), account_email: person.email },
      },
    ]);
  });

  it('finds the cookie of the state among the others of a web client', async () => {
    await personWithBoth('web');
    const { search, cookie } = await comeBack(service, oidc, 'web');
    const many = `fastapiusersauth=old; cookie; ${cookie}`;
    expect((await handIn(service, oidc, { search, cookie: many })).status).toBe(204);
  });

  it('shows the external account with the user, as one of openid whatever the name of the provider', async () => {
    const person = await personWithBoth('shown');
    expect(await accountsOf(service, person.id)).toEqual([]);
    await signIn(service, oidc, 'shown');
    expect(await accountsOf(service, person.id)).toEqual([
      { id: expect.any(Number), account_email: person.email, oauth_name: 'openid' },
    ]);
  });

  it('compares addresses whatever their case', async () => {
    const person = await personWithBoth('Case', 'Mixed.Case@example.org');
    oidc.people.set('Case', { email: 'mIXED.cASE@EXAMPLE.ORG' });
    expect(await whoIs(service, await signIn(service, oidc, 'Case'))).toBe(person.email);
  });

  it('knows the external account again after the address changed on either side', async () => {
    const person = await personWithBoth('moving');
    await signIn(service, oidc, 'moving');
    await service.admin.patch(`/auth/users/${person.id}/`, { email: 'moved-here@example.org' });
    expect(await whoIs(service, await signIn(service, oidc, 'moving'))).toBe('moved-here@example.org');

    oidc.people.set('moving', { email: 'moved-there@example.org' });
    expect(await whoIs(service, await signIn(service, oidc, 'moving'))).toBe('moved-here@example.org');
    expect(await accountsOf(service, person.id)).toEqual([
      { id: expect.any(Number), account_email: 'moved-there@example.org', oauth_name: 'openid' },
    ]);

    // The account counts, not the address: somebody else's does not lead to somebody else.
    oidc.people.set('moving', { email: ADMIN.email });
    expect(await whoIs(service, await signIn(service, oidc, 'moving'))).toBe('moved-here@example.org');
  });

  it('keeps every external account of a person', async () => {
    const person = await personWithBoth('first');
    oidc.people.set('second', { email: person.email });
    for (const login of ['first', 'second', 'first']) {
      expect(await whoIs(service, await signIn(service, oidc, login))).toBe(person.email);
    }
    expect(await accountsOf(service, person.id)).toHaveLength(2);
  });

  it('stores one account when two first sign-ins happen at once', async () => {
    const person = await personWithBoth('hasty');
    const returned = await comeBack(service, oidc, 'hasty');
    // The other sign-in has stored its account and not yet finished, when this one wants to store the same.
    const { answer } = await service.database.db.transaction().execute(async (other) => {
      const account = { user_id: person.id, oauth_name: 'openid', account_id: 'hasty', account_email: person.email };
      await other.insertInto('oauth_accounts').values(account).execute();
      const pending = handIn(service, oidc, returned);
      await untilWaiting(service.database);
      return { answer: pending };
    });
    expect((await answer).status).toBe(204);
    expect(await accountsOf(service, person.id)).toHaveLength(1);
  });

  it.each([
    ['a redirect address with parameters', { OAUTH_REDIRECT_URL: WEB_CLIENT_PAGE_WITH_QUERY }, { email: ADMIN.email }],
    [
      'another claim for the address',
      { OAUTH_EMAIL_CLAIM: 'upn', OAUTH_TRUST_EMAIL: 'true' },
      { email: 'other@example.org', upn: ADMIN.email },
    ],
  ])('works with %s', async (_, settings, claims) => {
    const other = await startService({ settings: { ...oidc.settings, ...settings } });
    oidc.people.set('special', claims);
    expect(await whoIs(other, await signIn(other, oidc, 'special'))).toBe(ADMIN.email);
  });

  it.each([
    ['in the form', 'client_secret_post', ['client_secret_post']],
    ['in the header', 'client_secret_basic', ['client_secret_basic']],
    [
      'in the first way it can of several',
      'client_secret_post',
      ['private_key_jwt', 'client_secret_post', 'client_secret_basic'],
    ],
  ])('sends the client secret %s where the provider wants it so', async (_, expected, authMethods) => {
    const strict = await startOidc({ authMethods });
    const other = await startService({ settings: strict.settings });
    strict.people.set('admin', { email: ADMIN.email });
    expect((await signIn(other, strict, 'admin')).status).toBe(204);
    expect(strict.authMethodsUsed).toEqual([expected]);
  });
});

describe('callback refuses', () => {
  it.each([
    ['an error of the provider', '?error=access_denied', 'access_denied'],
    ['an error of the provider beside a code', '?error=server_error&code=x&state=y', 'server_error'],
    ['no code', '?state=y', 'Bad Request'],
    ['an empty code', '?code=&state=y', 'Bad Request'],
    ['an empty error', '?error=', 'Bad Request'],
    ['nothing at all', '', 'Bad Request'],
  ])('%s', async (_, query, detail) => {
    expect(refusal(await service.anyone.get(oidc.callback + query))).toEqual([400, detail]);
  });

  it('somebody who said no at the provider', async () => {
    const returned = await comeBack(service, oidc, { deny: 'yes' });
    expect(refusal(await handIn(service, oidc, returned))).toEqual([400, 'access_denied']);
  });

  describe('a state', () => {
    const NOW = Math.floor(Date.now() / 1000);
    const signed = (claims: Record<string, unknown>, key = 'a key for tests') =>
      new SignJWT({ aud: STATE_AUDIENCE, exp: NOW + 60, ...claims })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .sign(new TextEncoder().encode(key));
    const unsigned = (claims: Record<string, unknown>) =>
      [{ alg: 'none' }, { aud: STATE_AUDIENCE, ...claims }]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .join('.') + '.';
    const csrfOf = ({ cookie }: Returned) => cookie.slice(CSRF_COOKIE.length + 1);

    type Change = (returned: Returned) => { state?: string | Promise<string> | null; cookie?: string };
    it.each<[string, Change, string]>([
      ['that is absent', () => ({ state: null }), 'ACCESS_TOKEN_DECODE_ERROR'],
      ['that is empty', () => ({ state: '' }), 'ACCESS_TOKEN_DECODE_ERROR'],
      ['that is malformed', () => ({ state: 'a.b.c' }), 'ACCESS_TOKEN_DECODE_ERROR'],
      [
        'of another key',
        (returned) => ({ state: signed({ csrftoken: csrfOf(returned) }, 'another key') }),
        'ACCESS_TOKEN_DECODE_ERROR',
      ],
      [
        'without signature',
        (returned) => ({ state: unsigned({ csrftoken: csrfOf(returned) }) }),
        'ACCESS_TOKEN_DECODE_ERROR',
      ],
      [
        'that is a login token',
        (returned) => ({ state: signed({ csrftoken: csrfOf(returned), aud: ['fastapi-users:auth'] }) }),
        'ACCESS_TOKEN_DECODE_ERROR',
      ],
      [
        'that expired',
        (returned) => ({ state: signed({ csrftoken: csrfOf(returned), exp: NOW - 60 }) }),
        'ACCESS_TOKEN_ALREADY_EXPIRED',
      ],
      [
        'that expired, before a look at the cookie',
        () => ({ state: signed({ csrftoken: 'x', exp: NOW - 60 }), cookie: '' }),
        'ACCESS_TOKEN_ALREADY_EXPIRED',
      ],
      ['without its cookie', () => ({ cookie: '' }), 'OAUTH_INVALID_STATE'],
      ['with an empty cookie', () => ({ cookie: `${CSRF_COOKIE}=` }), 'OAUTH_INVALID_STATE'],
      [
        'with the cookie of another sign-in',
        () => ({ cookie: `${CSRF_COOKIE}=${'x'.repeat(43)}` }),
        'OAUTH_INVALID_STATE',
      ],
      ['with a cookie beyond ASCII', () => ({ cookie: `${CSRF_COOKIE}=${'ü'.repeat(43)}` }), 'OAUTH_INVALID_STATE'],
      ['that names no cookie', () => ({ state: signed({}) }), 'OAUTH_INVALID_STATE'],
    ])('%s, before the provider is asked', async (_, change, detail) => {
      oidc.people.set('careful', { email: ADMIN.email });
      const returned = await comeBack(service, oidc, 'careful');
      const { state, cookie = returned.cookie } = change(returned);
      const search = new URLSearchParams(returned.search);
      if (state === null) search.delete('state');
      else if (state !== undefined) search.set('state', await state);
      const asked = oidc.requests.length;
      const answer = await handIn(service, oidc, { search, cookie });
      expect(refusal(answer)).toEqual([400, detail]);
      expect(answer.headers.getSetCookie()).toEqual([]);
      expect(oidc.requests.length).toBe(asked);
      // The code was not used up.
      expect((await handIn(service, oidc, returned)).status).toBe(204);
    });
  });

  describe('a code', () => {
    const WHO = 'exchange';
    let returned: Returned;
    beforeAll(async () => {
      await personWithBoth(WHO);
    });

    const expectFailure = (answer: Answer, what: string) => {
      expect(answer.status).toBe(500);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(answer.body).toEqual({ detail: expect.stringContaining(`could not be asked for ${what}`) });
      expect(answer.headers.getSetCookie()).toEqual([]);
      const entry = service.log.findLast(({ name }) => name === 'oauth')!;
      expect([entry.level, entry.error]).toEqual(['error', expect.any(Error)]);
      expect(inspect(entry.error, { depth: null })).not.toContain(oidc.settings['OAUTH_CLIENT_SECRET']);
    };

    it.each<[string, (search: URLSearchParams) => void]>([
      ['that the provider does not know', (search) => search.set('code', 'unknown')],
      ['whose secret is another one', (search) => search.set('code_verifier', 'x'.repeat(43))],
      ['of another provider', (search) => search.set('iss', 'https://other.example.org')],
    ])('%s', async (_, change) => {
      returned = await comeBack(service, oidc, WHO);
      change(returned.search);
      expectFailure(await handIn(service, oidc, returned), 'a token');
    });

    it('that was used before', async () => {
      returned = await comeBack(service, oidc, WHO);
      expect((await handIn(service, oidc, returned)).status).toBe(204);
      const again = await comeBack(service, oidc, WHO);
      again.search.set('code', returned.search.get('code')!);
      expectFailure(await handIn(service, oidc, again), 'a token');
    });

    it('that was given to somebody else: the secret of this browser does not fit it', async () => {
      const theirs = await comeBack(service, oidc, WHO);
      returned = await comeBack(service, oidc, WHO);
      returned.search.set('code', theirs.search.get('code')!);
      expectFailure(await handIn(service, oidc, returned), 'a token');
    });

    it('but not for a web client that passes on only what it knows', async () => {
      returned = await comeBack(service, oidc, WHO);
      expect([...returned.search.keys()].sort()).toEqual(['code', 'iss', 'state']);
      returned.search.delete('iss');
      expect((await handIn(service, oidc, returned)).status).toBe(204);
    });

    it('whose token does not show who it is', async () => {
      // Without the scope openid the provider gives a token, and then refuses to tell about the account.
      returned = await comeBack(service, oidc, WHO, '?scopes=email');
      expectFailure(await handIn(service, oidc, returned), 'your account');
    });
  });

  it.each([
    ['no address', {}],
    ['an empty address', { email: '' }],
    ['an address that is no text', { email: ['a@example.org'] }],
    ['an address that nobody confirmed', { email: ADMIN.email, email_verified: false }],
    [
      'an address of which the provider does not say that it is confirmed',
      { email: ADMIN.email, email_verified: undefined },
    ],
    ['an address that is confirmed in other words', { email: ADMIN.email, email_verified: 'yes' }],
    ['an address that is confirmed by a number', { email: ADMIN.email, email_verified: 1 }],
  ])('an account with %s', async (_, claims) => {
    oidc.people.set('without address', claims);
    const before = await usersOf(service);
    expect(refusal(await signIn(service, oidc, 'without address'))).toEqual([400, 'OAUTH_NOT_AVAILABLE_EMAIL']);
    expect(await usersOf(service)).toEqual(before);
  });

  it('somebody whose provider says that another address is confirmed than the one of the setting', async () => {
    const other = await startService({ settings: { ...oidc.settings, OAUTH_EMAIL_CLAIM: 'upn' } });
    oidc.people.set('with two addresses', { email: 'own@example.org', email_verified: true, upn: ADMIN.email });
    expect(refusal(await signIn(other, oidc, 'with two addresses'))).toEqual([400, 'OAUTH_NOT_AVAILABLE_EMAIL']);
    expect(other.log.filter(({ level }) => level === 'warning').map(({ message }) => message)).toEqual([
      expect.stringContaining('OAUTH_TRUST_EMAIL'),
    ]);
    oidc.people.set('with two addresses', { email: ADMIN.email.toUpperCase(), email_verified: true, upn: ADMIN.email });
    expect((await signIn(other, oidc, 'with two addresses')).status).toBe(204);
  });

  it('nobody whose address an administrator trusts the provider with, unless the provider itself does not', async () => {
    const other = await startService({ settings: { ...oidc.settings, OAUTH_TRUST_EMAIL: 'true' } });
    oidc.people.set('at an institute', { email: ADMIN.email, email_verified: false });
    expect(refusal(await signIn(other, oidc, 'at an institute'))).toEqual([400, 'OAUTH_NOT_AVAILABLE_EMAIL']);
    oidc.people.set('at an institute', { email: ADMIN.email, email_verified: undefined });
    const answer = await signIn(other, oidc, 'at an institute');
    expect(await whoIs(other, answer)).toBe(ADMIN.email);
  });

  it('no address of somebody who is known already; it is not believed either', async () => {
    const person = await personWithBoth('known');
    expect((await signIn(service, oidc, 'known')).status).toBe(204);
    oidc.people.set('known', { email: ADMIN.email, email_verified: undefined });
    expect(await whoIs(service, await signIn(service, oidc, 'known'))).toBe(person.email);
    expect(await accountsOf(service, person.id)).toMatchObject([{ account_email: person.email }]);
  });

  it('inactive people, but remembers their account', async () => {
    const person = await personWithBoth('inactive');
    await service.admin.patch(`/auth/users/${person.id}/`, { is_active: false });
    for (const email of [person.email, 'later@example.org']) {
      oidc.people.set('inactive', { email });
      const answer = await signIn(service, oidc, 'inactive');
      expect(refusal(answer)).toEqual([400, 'LOGIN_BAD_CREDENTIALS']);
      expect(answer.headers.getSetCookie()).toEqual([]);
      expect(await accountsOf(service, person.id)).toEqual([
        { id: expect.any(Number), account_email: email, oauth_name: 'openid' },
      ]);
    }
  });
});

describe('somebody unknown', () => {
  const linkCount = async ({ database }: TestService) =>
    (await database.db.selectFrom('oauth_accounts').selectAll().execute()).length;

  it('is told where to find help; the administrators get one mail an hour', async () => {
    oidc.people.set('stranger', { email: 'Stranger@example.org' });
    const before = [await usersOf(service), await linkCount(service)];

    const answer = await signIn(service, oidc, 'stranger');
    expect(answer.status).toBe(400);
    expect(answer.headers.getSetCookie()).toEqual([]);
    const [first, second, ...more] = (answer.body.detail as string).split('\n');
    expect(first).toContain('Stranger@example.org');
    expect(second).toContain(HELP_URL);
    expect(more).toEqual([]);

    await expect.poll(() => smtp.mails).toHaveLength(1);
    const [mail] = smtp.mails;
    expect([mail!.from, mail!.to]).toEqual([SENDER, RECIPIENTS]);
    expect(mail!.headers['subject']).toMatch(/^\[[^\]]*Zürich\] .*OAuth self-registration/);
    expect(mail!.text).toContain('Stranger@example.org');
    expect(mail!.text.replaceAll('\n', ' ')).toContain((answer.body.detail as string).replaceAll('\n', ' '));

    oidc.people.set('stranger', { email: 'STRANGER@example.org' });
    expect((await signIn(service, oidc, 'stranger')).status).toBe(400);
    // The mail of a later attempt shows that there was none in between.
    oidc.people.set('another', { email: 'another@example.org' });
    expect((await signIn(service, oidc, 'another')).status).toBe(400);
    await expect.poll(() => smtp.mails.length).toBeGreaterThan(1);
    expect(smtp.mails.map(({ text }) => text.includes('another@example.org'))).toEqual([false, true]);

    expect([await usersOf(service), await linkCount(service)]).toEqual(before);
  });

  it('can sign in as soon as an administrator made an account', async () => {
    oidc.people.set('newcomer', { email: 'newcomer@example.org' });
    expect((await signIn(service, oidc, 'newcomer')).status).toBe(400);
    await service.person({ email: 'newcomer@example.org' });
    expect((await signIn(service, oidc, 'newcomer')).status).toBe(204);
  });

  it('is only logged where mail is not set up, and told nothing of help where there is none', async () => {
    const other = await startService({ settings: oidc.settings });
    const sent = smtp.mails.length;
    oidc.people.set('quiet', { email: 'quiet@example.org' });
    for (const attempt of [1, 2]) {
      const answer = await signIn(other, oidc, 'quiet');
      expect([answer.status, (answer.body.detail as string).split('\n').length]).toEqual([400, 1]);
      const entries = other.log.filter(
        ({ name, message }) => name === 'oauth' && message.includes('quiet@example.org'),
      );
      expect(entries).toHaveLength(attempt);
    }
    expect(await usersOf(other)).toHaveLength(1);
    expect(smtp.mails).toHaveLength(sent);
  });
});

describe('without a provider', () => {
  it.each([
    ['nothing is set', []],
    ['there is no secret', ['OAUTH_CLIENT_NAME', 'OAUTH_CLIENT_ID', 'OAUTH_OIDC_CONFIG_ENDPOINT']],
    ['there is no id', ['OAUTH_CLIENT_NAME', 'OAUTH_CLIENT_SECRET', 'OAUTH_OIDC_CONFIG_ENDPOINT']],
    ['there is no name', ['OAUTH_CLIENT_ID', 'OAUTH_CLIENT_SECRET', 'OAUTH_OIDC_CONFIG_ENDPOINT']],
  ])('the operations do not exist: %s', async (_, names) => {
    const other = await startService({
      settings: Object.fromEntries(names.map((name) => [name, oidc.settings[name]!])),
    });
    for (const path of [oidc.authorize, oidc.callback, '/auth/openid/authorize/', '/auth/google/callback/']) {
      expect(refusal(await other.anyone.get(path))).toEqual([404, 'Not Found']);
    }
  });

  it('the operations of other names do not exist either', async () => {
    for (const path of ['/auth/openid/authorize/', '/auth/google/authorize/', '/auth/github/callback/']) {
      expect((await service.anyone.get(path)).status).toBe(404);
    }
  });
});

describe('a provider that does not answer', () => {
  const createWith = (discovery: string) => {
    const given: Record<string, string> = {
      POSTGRES_DB: 'given',
      JWT_SECRET_KEY: 'a key for tests',
      ...oidc.settings,
      OAUTH_OIDC_CONFIG_ENDPOINT: discovery,
    };
    const ignore = () => undefined;
    const logger = { enabled: () => false, debug: ignore, info: ignore, warning: ignore, error: ignore };
    return createService({
      settings: readSettings((name) => given[name]),
      database: service.database,
      logging: { logger: () => logger },
    });
  };

  it('stops the start, with one line for the operator', async () => {
    const gone = await startOidc();
    await gone.close();
    const started = createWith(gone.settings['OAUTH_OIDC_CONFIG_ENDPOINT']!);
    await expect(started).rejects.toThrow(SettingsError);
    await expect(started).rejects.toThrow(/^OAUTH_OIDC_CONFIG_ENDPOINT must be [^\n]+$/);
  });

  it.each([
    ['an address that is not there', () => `${oidc.issuer}/nothing/.well-known/openid-configuration`],
    ['something that is no description', () => `${service.url}/api/alive/?ask=/.well-known/`],
  ])('stops the start, as does %s', async (_, discovery) => {
    const started = createWith(discovery());
    await expect(started).rejects.toThrow(SettingsError);
    await expect(started).rejects.toThrow(/^OAUTH_OIDC_CONFIG_ENDPOINT must be [^\n]+$/);
  });

  it('stops sign-ins while it is gone, and nothing else', async () => {
    const leaving = await startOidc();
    const other = await startService({ settings: leaving.settings });
    leaving.people.set('admin', { email: ADMIN.email });
    const returned = await comeBack(other, leaving, 'admin');
    await leaving.close();
    const answer = await handIn(other, leaving, returned);
    expect(refusal(answer)).toEqual([500, expect.stringContaining('could not be asked for a token')]);
    expect((await other.admin.get('/auth/current-user/')).status).toBe(200);
  });
});

describe('the built-in providers', () => {
  let standIn: BuiltInProviders;
  const services: Record<string, TestService> = {};
  beforeAll(async () => {
    standIn = await startBuiltInProviders();
    for (const name of ['google', 'github'] as const) {
      const { id, secret } = standIn.client;
      const settings = { name, id, secret, discovery: null, redirectUrl: null, emailClaim: 'email', trustEmail: false };
      services[name] = await startService({
        settings: { OAUTH_CLIENT_NAME: name, OAUTH_CLIENT_ID: id, OAUTH_CLIENT_SECRET: secret },
        provider: await createProvider(settings, standIn[name]),
      });
    }
  });

  async function signInWith(
    name: string,
    answers: Record<string, unknown>,
    change?: (search: URLSearchParams) => void,
  ) {
    for (const path of Object.keys(standIn.answers)) delete standIn.answers[path];
    Object.assign(standIn.answers, answers);
    const { anyone } = services[name]!;
    const begun = await anyone.get(`/auth/${name}/authorize/`);
    const { searchParams } = await standIn.visit(begun.body.authorization_url as string);
    change?.(searchParams);
    return anyone.get(`/auth/${name}/callback/?${searchParams.toString()}`, {
      headers: { cookie: cookieIn(begun).cookie },
    });
  }

  it.each([
    [
      'google',
      'https://accounts.google.com/o/oauth2/v2/auth',
      'https://www.googleapis.com/auth/userinfo.profile https://www.googleapis.com/auth/userinfo.email',
    ],
    ['github', 'https://github.com/login/oauth/authorize', 'user user:email'],
  ])('%s is at its address in the world', async (name, address, scope) => {
    const { id, secret } = standIn.client;
    const other = await startService({
      settings: { OAUTH_CLIENT_NAME: name, OAUTH_CLIENT_ID: id, OAUTH_CLIENT_SECRET: secret },
    });
    const { body } = await other.anyone.get(`/auth/${name}/authorize/`);
    const url = new URL(body.authorization_url as string);
    expect(url.origin + url.pathname).toBe(address);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: id,
      redirect_uri: `${other.url}/auth/${name}/callback/`,
      state: expect.any(String),
      scope,
    });
  });

  const PERSON = '/people/me?personFields=emailAddresses';
  const google = (...emailAddresses: [value: string, primary?: boolean, verified?: boolean][]) => ({
    [PERSON]: {
      resourceName: 'people/c1',
      emailAddresses: emailAddresses.map(([value, primary, verified = true]) => ({
        value,
        ...(primary ? { metadata: { primary, verified } } : {}),
      })),
    },
  });
  const github = (email: string | null, ...emails: [email: string, primary: boolean, verified?: boolean][]) => ({
    '/user': { id: 583231, login: 'somebody', email },
    '/user/emails': emails.map(([address, primary, verified = true]) => ({ email: address, primary, verified })),
  });

  const NO_ADDRESS = 'OAUTH_NOT_AVAILABLE_EMAIL';
  it.each<[string, string, Record<string, unknown>, string]>([
    ['google', 'the primary address', google(['other@example.org'], [ADMIN.email, true]), ADMIN.email],
    ['google', 'no address when none is primary', google([ADMIN.email]), NO_ADDRESS],
    ['google', 'no address when it names none', { [PERSON]: { resourceName: 'people/c1' } }, NO_ADDRESS],
    ['google', 'no address that nobody confirmed', google([ADMIN.email, true, false]), NO_ADDRESS],
    [
      'github',
      'the public address',
      github(ADMIN.email, ['other@example.org', true], [ADMIN.email, false]),
      ADMIN.email,
    ],
    ['github', 'no public address that nobody confirmed', github(ADMIN.email, [ADMIN.email, true, false]), NO_ADDRESS],
    ['github', 'no public address that is not among its own', github(ADMIN.email), NO_ADDRESS],
    ['github', 'no address when it keeps them to itself', { '/user': { id: 583231, email: ADMIN.email } }, NO_ADDRESS],
    ['github', 'the primary address', github(null, ['other@example.org', false], [ADMIN.email, true]), ADMIN.email],
    ['github', 'the first address', github(null, [ADMIN.email, false], ['other@example.org', false]), ADMIN.email],
    ['github', 'no address when it names none', github(null), NO_ADDRESS],
    ['github', 'no address that nobody confirmed', github(null, [ADMIN.email, true, false]), NO_ADDRESS],
  ])('%s: %s', async (name, _, answers, expected) => {
    const other = services[name]!;
    await other.database.db.deleteFrom('oauth_accounts').execute();
    const answer = await signInWith(name, answers);
    const stored = await other.database.db
      .selectFrom('oauth_accounts')
      .select(['oauth_name', 'account_id', 'account_email'])
      .execute();
    if (expected === NO_ADDRESS) {
      expect(refusal(answer)).toEqual([400, NO_ADDRESS]);
      expect(stored).toEqual([]);
      return;
    }
    expect(answer.status).toBe(204);
    expect(await whoIs(other, answer)).toBe(ADMIN.email);
    expect(stored).toEqual([
      { oauth_name: name, account_id: name === 'google' ? 'people/c1' : '583231', account_email: expected },
    ]);
  });

  it.each(['google', 'github'])('%s gets the credentials in the form', async (name) => {
    const answers = name === 'google' ? google([ADMIN.email, true]) : github(null, [ADMIN.email, true]);
    expect((await signInWith(name, answers)).status).toBe(204);
    expect(standIn.exchanges.at(-1)).toEqual({
      grant_type: 'authorization_code',
      code: expect.any(String),
      redirect_uri: `${services[name]!.url}/auth/${name}/callback/`,
      client_id: standIn.client.id,
      client_secret: standIn.client.secret,
    });
  });

  it.each(['google', 'github'])('%s does not know a code, or does not tell of an account', async (name) => {
    const unknown = await signInWith(name, {}, (search) => search.set('code', 'unknown'));
    expect(refusal(unknown)).toEqual([500, expect.stringContaining('could not be asked for a token')]);
    expect(refusal(await signInWith(name, {}))).toEqual([
      500,
      expect.stringContaining('could not be asked for your account'),
    ]);
  });
});
