/** The rules of the web server that need no server: paths, cookies, pages, headers, start-time variables. */
import type { User } from '@service/contract';
import { describe, expect, it } from 'vitest';

import { guard } from '#lib/server/guard.ts';
import { headersFor, withCompanions } from '#lib/server/headers.ts';
import { answerHeaders, apiCookies, passedTo, requestHeaders } from '#lib/server/proxy-rules.ts';
import * as readers from '#lib/server/readers.ts';
import { nameOrigin, schemeOf, serverEnvironment } from '#lib/server/request-origin.ts';
import { landingPage, ownAddress } from '#lib/server/return-address.ts';
import { cookieAttributes, cookieSetTo, earlierAttributes, expiryOf } from '#lib/server/session-cookie.ts';
import { clashes } from '#lib/server/start-check.ts';

describe('the proxy', () => {
  it.each([
    ['/api/v2/project', '/api/v2/project/'],
    ['/api/v2/project/', '/api/v2/project/'],
    ['/api/auth/current-user', '/auth/current-user/'],
    ['/api/admin/v2/job', '/admin/v2/job/'],
    ['/api/alive', '/api/alive/'],
    ['/api/authors', '/api/authors/'],
    ['/api', '/api/'],
    ['//api///v2//project//', '/api/v2/project/'],
    ['/api//auth/users', '/auth/users/'],
    ['/api/%61dmin/v2/job', '/admin/v2/job/'],
    ['/api/v2/project/%37', '/api/v2/project/7/'],
    ['/api/v2/a%20b', '/api/v2/a%20b/'],
    ['/api/v2/a%2561', '/api/v2/a%2561/'],
    ['/api/v2/%C3%A9;a=b', '/api/v2/%C3%A9%3Ba%3Db/'],
    ['/api/v2/...', '/api/v2/.../'],
  ])('sends %s to %s', (pathname, path) => expect(passedTo('GET', pathname)).toEqual({ path }));

  it.each([
    '/api/v2/a%2Fb',
    '/api/v2/a%2fb',
    '/api/v2/a%5Cb',
    '/api/v2\\project',
    '/api/v2/%00',
    '/api/v2/%zz',
    '/api/v2/%',
    '/api/v2/%c3',
    '/api/v2/./project',
    '/api/v2/../admin/v2/job',
    '/api/v2/%2e%2E/x',
    '/api/v2/\u00e9',
    '/api/v2/a?b',
    'http://elsewhere.example/api/v2/project',
    '*',
    '',
  ])('sends %j nowhere, because others may read it differently', (pathname) =>
    expect(passedTo('GET', pathname)).toMatchObject({ status: 400 }),
  );

  it.each([
    [null, 'fastapiusersauth', undefined],
    ['other=1', 'fastapiusersauth', undefined],
    ['fastapiusersauth=a.b.c', 'fastapiusersauth', 'fastapiusersauth=a.b.c'],
    ['mine=a.b.c; fastapiusersauth=old', 'mine', 'fastapiusersauth=a.b.c'],
    ['mine=t; x=1; fastapiusersoauthcsrf=s==', 'mine', 'fastapiusersauth=t; fastapiusersoauthcsrf=s=='],
    ['mine=t; mine_own=admin', 'mine', 'fastapiusersauth=t'],
  ])('makes of the cookies %s, with the session in %s, %s', (header, name, cookies) =>
    expect(apiCookies(header, name)).toBe(cookies),
  );

  it('passes on only the headers of the list', () => {
    const given = {
      accept: 'text/event-stream',
      'last-event-id': '7',
      'if-none-match': '"1"',
      'content-type': 'application/json',
      'content-length': '2',
      cookie: 'fastapiusersauth=t; theme=dark',
      authorization: 'Bearer x',
      range: 'bytes=0-1',
      'x-forwarded-for': '10.0.0.1',
      'x-forwarded-host': 'evil.example',
      'x-service-pass': 'guessed',
      origin: 'https://lab.example.org',
      'sec-fetch-site': 'same-origin',
      'sec-fetch-mode': 'cors',
      'sec-fetch-dest': 'empty',
    };
    expect(requestHeaders(new Headers(given), 'fastapiusersauth')).toEqual({
      accept: 'text/event-stream',
      'last-event-id': '7',
      'if-none-match': '"1"',
      'content-type': 'application/json',
      'content-length': '2',
      cookie: 'fastapiusersauth=t',
      origin: 'https://lab.example.org',
      'sec-fetch-site': 'same-origin',
      'sec-fetch-mode': 'cors',
      'sec-fetch-dest': 'empty',
    });
  });

  it('gives back every header of the answer but those of the connection', () => {
    const headers = answerHeaders(['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'Connection', 'close', 'ETag', '"x"']);
    expect(headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect([...headers.keys()]).toEqual(['etag', 'set-cookie', 'set-cookie']);
  });

  it.each([
    ['GET', '/api/admin/v2/impersonate/3/', true],
    ['HEAD', '/api/admin/v2/impersonate/3', true],
    ['GET', '/api/admin/v2/imperson%61te/3/', true],
    ['GET', '/api/admin//v2/impersonate/3', true],
    ['GET', '/api//admin/v2/impersonate//3//', true],
    ['POST', '/api/admin/v2/impersonate/', true],
    ['POST', '/api/admin/v2//impersonate', true],
    ['GET', '/api/v2/project/1/job/2/stop/', true],
    ['GET', '/api/v2//project/1/job/2/stop', true],
    ['GET', '/api/admin//v2/job/2/stop', true],
    ['HEAD', '/api/admin/v2/job/2/%73top', true],
    ['POST', '/api/admin/v2/job/2/stop/', false],
    ['GET', '/api/admin/v2/job/2/', false],
    ['GET', '/api/admin/v2/impersonated', false],
  ])('%s %s is blocked: %s', (method, path, is) => {
    const passed = passedTo(method, path);
    expect('status' in passed && passed.status === 403).toBe(is);
  });
});

describe('the return address', () => {
  it.each([
    ['/v2/projects/1?tab=a', '/v2/projects/1?tab=a'],
    ['/', '/'],
    [null, undefined],
    ['', undefined],
    ['v2/projects', undefined],
    ['https://evil.example', undefined],
    ['//evil.example', undefined],
    ['/\\evil.example', undefined],
    ['/\t/evil.example', undefined],
    ['/.//evil.example', undefined],
    ['/auth/login', undefined],
    ['/api/auth/token/logout', undefined],
    ['/authors', '/authors'],
  ])('of %j is %j', (value, address) => expect(ownAddress(value)).toBe(address));

  it.each([
    [undefined, { is_superuser: false, is_guest: false, profile_id: 1 }, '/v2/projects'],
    [undefined, { is_superuser: false, is_guest: true, profile_id: 1 }, '/v2/projects?show=shared'],
    [undefined, { is_superuser: true, is_guest: false, profile_id: 1 }, '/v2/projects'],
    [undefined, { is_superuser: true, is_guest: false, profile_id: null }, '/v2/admin'],
    ['/v2/tasks', { is_superuser: true, is_guest: false, profile_id: 1 }, '/v2/tasks'],
    ['/v2/tasks', { is_superuser: true, is_guest: false, profile_id: null }, '/v2/admin'],
    ['/v2/admin/users', { is_superuser: true, is_guest: false, profile_id: null }, '/v2/admin/users'],
    ['//evil.example', undefined, '/v2/projects'],
  ])('%j of %j leads to %s', (next, user, page) => expect(landingPage(next, user)).toBe(page));
});

describe('the page guard', () => {
  const person = (changes: Partial<User>) =>
    ({ is_superuser: false, is_verified: true, profile_id: 1, ...changes }) as User;
  const login = (next: string) => ({ redirect: `/auth/login?invalidate=true&next=${encodeURIComponent(next)}` });

  it.each<[string, string, { apiAlive?: boolean; user?: User }, ReturnType<typeof guard>]>([
    ['home without API', '/', { apiAlive: false }, undefined],
    ['login page of nobody', '/auth/login', {}, undefined],
    ['alive without API', '/alive', { apiAlive: false }, undefined],
    ['a page without API', '/v2/projects', { apiAlive: false, user: person({}) }, { redirect: '/?invalidate=true' }],
    ['a page of nobody', '/v2/projects', {}, login('/v2/projects')],
    ['a page of a member', '/v2/projects', { user: person({}) }, undefined],
    ['a page of one without profile', '/v2/projects', { user: person({ profile_id: null }) }, { redirect: '/' }],
    ['a page of one not verified', '/v2/projects', { user: person({ is_verified: false }) }, { redirect: '/' }],
    [
      'a page of an administrator without both',
      '/v2/admin/jobs',
      { user: person({ is_superuser: true, is_verified: false, profile_id: null }) },
      undefined,
    ],
    ['the admin area of a member', '/v2/admin', { user: person({}) }, { refused: expect.any(String) as string }],
    ['a page that only begins like the admin area', '/v2/administration', { user: person({}) }, undefined],
  ])('%s', (_, pathname, { apiAlive = true, user }, verdict) =>
    expect(guard({ pathname, address: pathname, apiAlive, user })).toEqual(verdict),
  );

  it('gives no return address to what cannot be opened again', () =>
    expect(guard({ pathname: '/v2/x', apiAlive: true, user: undefined })).toEqual({
      redirect: '/auth/login?invalidate=true',
    }));
});

describe('the session cookie', () => {
  const plain = { name: 'fastapiusersauth', secure: undefined, domain: undefined, path: '/', sameSite: 'lax' as const };

  it.each([
    ['is for the host alone', {}, 'http://lab.example.org/x', { secure: false }],
    ['follows https', {}, 'https://lab.example.org/x', { secure: true }],
    ['is as secure as told', { secure: true }, 'http://a.example', { secure: true }],
    ['has its domain', { domain: 'b.example' }, 'http://a.b.example', { secure: false, domain: 'b.example' }],
    ['is bound to the host', { name: '__Host-s' }, 'http://a.example', { secure: true }],
    ['has its path', { path: '/x' }, 'http://a.example', { secure: false, path: '/x' }],
  ])('%s', (_, changes, url, expected) =>
    expect(cookieAttributes({ ...plain, ...changes }, new URL(url))).toEqual({
      httpOnly: true,
      path: '/',
      sameSite: 'lax',
      ...expected,
    }),
  );

  it.each([
    ['with the host as domain', {}, 'http://lab.example.org', ['lab.example.org']],
    ['with the host as domain, and alone', { domain: 'b.example' }, 'http://a.b.example', [undefined, 'a.b.example']],
    ['alone', { domain: 'a.example' }, 'http://a.example', [undefined]],
    ['in no other way at an IPv6 address', {}, 'http://[::1]:80', []],
    ['in no other way when it is bound to the host', { name: '__Host-s' }, 'https://a.example', []],
  ])('may be left over %s', (_, changes, url, domains) => {
    const earlier = earlierAttributes({ ...plain, ...changes }, new URL(url));
    expect(earlier.map(({ domain }) => domain)).toEqual(domains);
    for (const { path, secure } of earlier) expect([path, secure]).toEqual(['/', false]);
  });

  it.each([
    [`h.${Buffer.from('{"exp": 1700000000}').toString('base64url')}.s`, new Date(1_700_000_000_000)],
    [`h.${Buffer.from('{"sub": 1}').toString('base64url')}.s`, undefined],
    ['nonsense', undefined],
    ['', undefined],
  ])('a token %s ends %s', (token, end) => expect(expiryOf(token)).toEqual(end));

  it.each([
    [['a=1', 'fastapiusersauth=x.y; Path=/'], 'x.y'],
    [['fastapiusersauth="x.y"; Path=/'], 'x.y'],
    [['fastapiusersauth=; Max-Age=0'], undefined],
    [[], undefined],
  ])('in %j is %j', (lines, value) => expect(cookieSetTo(lines, 'fastapiusersauth')).toBe(value));
});

describe('the security policy', () => {
  const policy = "default-src 'none'; connect-src 'self'; base-uri 'none'";
  const self = "default-src 'none'; connect-src 'self'; base-uri 'none'; frame-src 'self'";
  it.each([
    [{ data: undefined, help: '/help' }, self],
    [
      { data: 'https://data.example/vizarr/data', help: 'https://guide.example/v1' },
      self.replace("connect-src 'self'", "connect-src 'self' https://data.example") + ' https://guide.example',
    ],
  ])('with %j', (companions, expected) => expect(withCompanions(policy, companions)).toBe(expected));
});

describe('the headers of an answer', () => {
  const FRAMES = 'x-frame-options';
  const TLS = 'strict-transport-security';
  it.each<[string, boolean, string[]]>([
    ['/', false, [FRAMES]],
    ['/', true, [FRAMES, TLS]],
    ['/apiary', true, [FRAMES, TLS]],
    ['/api/v2/project?a=b', false, []],
    ['/api/v2/project', true, [TLS]],
    ['/api/../v2/projects', false, [FRAMES]],
    ['/v2/../api/v2/project', false, []],
    ['//elsewhere/api/v2/project', false, [FRAMES]],
    ['*', false, [FRAMES]],
  ])('to %s, over TLS: %s', (address, overTls, names) => {
    const headers = headersFor(address, overTls);
    expect([FRAMES, TLS].filter((name) => name in headers)).toEqual(names);
  });
});

describe('the origin of a request', () => {
  const named = (origin: string | undefined, headers: Record<string, string>, encrypted = false) => {
    const request = { headers, socket: { encrypted } } as unknown as Parameters<typeof nameOrigin>[0];
    nameOrigin(request, origin);
    return `${String(request.headers['x-service-scheme'])}://${String(request.headers['x-service-host'])}`;
  };

  it.each([
    ['is that of the request', undefined, { host: 'lab:8080' }, 'http://lab:8080'],
    ['is not what a client claims', undefined, { host: 'lab', 'x-service-host': 'evil' }, 'http://lab'],
    ['is the one of the settings', 'https://lab.example.org', { host: '10.0.0.1' }, 'https://lab.example.org'],
  ])('%s', (_, origin, headers, expected) => expect(named(origin, headers)).toBe(expected));

  it('is https where the connection is', () => expect(named(undefined, { host: 'lab' }, true)).toBe('https://lab'));

  it.each([
    [{}, { 'x-service-scheme': 'http', 'x-forwarded-proto': 'https' }, 'http'],
    [{ PROTOCOL_HEADER: 'X-Forwarded-Proto' }, { 'x-service-scheme': 'http', 'x-forwarded-proto': 'https' }, 'https'],
    [{ PROTOCOL_HEADER: 'x-forwarded-proto' }, { 'x-service-scheme': 'http' }, undefined],
  ])('has, with %j and %j, the scheme %s', (environment, headers, scheme) =>
    expect(schemeOf({ headers }, environment)).toBe(scheme),
  );

  it.each([
    [{}, { PORT: undefined, BODY_SIZE_LIMIT: 'Infinity', PROTOCOL_HEADER: 'x-service-scheme' }],
    [
      { PORT: '', BODY_SIZE_LIMIT: ' ' },
      { PORT: undefined, BODY_SIZE_LIMIT: 'Infinity' },
    ],
    [
      { PORT: '80', BODY_SIZE_LIMIT: '5M' },
      { PORT: '80', BODY_SIZE_LIMIT: '5M' },
    ],
    [{ PROTOCOL_HEADER: 'x-forwarded-proto' }, { PROTOCOL_HEADER: 'x-forwarded-proto', HOST_HEADER: 'x-service-host' }],
    [
      { ORIGIN: 'https://a', PROTOCOL_HEADER: 'x-forwarded-proto', PORT_HEADER: 'x-port' },
      { PROTOCOL_HEADER: 'x-service-scheme', PORT_HEADER: undefined },
    ],
  ])('the server gets of %j %j', (environment, expected) =>
    expect(serverEnvironment(environment)).toMatchObject(expected),
  );
});

describe('start-time variables', () => {
  const { choice, cookieName, flag, hostName, integer, or, origin, path, required, size, text, url, urlOrPath } =
    readers;
  it.each<[string, (value: string | undefined) => unknown, string | undefined, unknown]>([
    ['text', text, ' a ', 'a'],
    ['text', text, '', undefined],
    ['or', or(flag, true), ' ', true],
    ['flag', flag, 'false', false],
    ['choice', choice('a', 'b'), 'b', 'b'],
    ['url', url, 'http://api:8000/', 'http://api:8000'],
    ['urlOrPath', urlOrPath, '/help/', '/help'],
    ['urlOrPath', urlOrPath, 'https://guide.example', 'https://guide.example'],
    ['origin', origin, 'https://lab.example.org/', 'https://lab.example.org'],
    ['integer', integer(1), '3000', 3000],
    ['size', size, '5000000', 5_000_000],
    ['size', size, '512k', 524_288],
    ['size', size, undefined, undefined],
    ['hostName', hostName, 'example.org', 'example.org'],
    ['cookieName', cookieName, '__Host-session', '__Host-session'],
    ['path', path, '/web', '/web'],
    ['required', required(text, 'at work'), '', 'at work'],
  ])('%s reads %j', (_, reader, value, expected) => expect(reader(value)).toEqual(expected));

  it.each<[string, (value: string | undefined) => unknown, string | undefined, RegExp]>([
    ['flag', flag, 'yes', /Use "true" or "false"/],
    ['choice', choice('local'), 'lokal', /"lokal" is not known here. Use "local"/],
    ['url', url, 'api:8000', /not an absolute URL/],
    ['url', url, 'ftp://api', /not an absolute URL/],
    ['origin', origin, 'https://a.example/web', /has a path/],
    ['integer', integer(1), '0', /at least 1/],
    ['integer', integer(1), '1.5', /whole number/],
    ['size', size, 'much', /number of bytes/],
    ['hostName', hostName, 'https://a.example', /without scheme/],
    ['cookieName', cookieName, 'a b', /name of a cookie/],
    ['path', path, 'web', /begins with/],
    ['required', required(text), '', /Set this variable/],
  ])('%s refuses %j', (_, reader, value, words) => expect(() => reader(value)).toThrow(words));

  const cookie = { AUTH_COOKIE_NAME: 'a', AUTH_COOKIE_PATH: '/', AUTH_COOKIE_SAME_SITE: 'lax' };
  it.each([
    ['nothing', {}, []],
    ['a bound cookie', { AUTH_COOKIE_NAME: '__Host-a' }, []],
    ['with a domain', { AUTH_COOKIE_NAME: '__Host-a', AUTH_COOKIE_DOMAIN: 'a.example' }, ['AUTH_COOKIE_DOMAIN']],
    ['not secure', { AUTH_COOKIE_NAME: '__Host-a', AUTH_COOKIE_SECURE: false }, ['AUTH_COOKIE_SECURE']],
    ['below a path', { AUTH_COOKIE_NAME: '__Host-a', AUTH_COOKIE_PATH: '/a' }, ['AUTH_COOKIE_PATH']],
    ['for all sites', { AUTH_COOKIE_SAME_SITE: 'none', AUTH_COOKIE_SECURE: false }, ['AUTH_COOKIE_SECURE']],
  ])('clash: %s', (_, changes, names) =>
    expect(clashes({ ...cookie, ...changes }).map((problem) => problem.split(':')[0])).toEqual(names),
  );
});
