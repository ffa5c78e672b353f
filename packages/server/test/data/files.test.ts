/** Image files over HTTP: who may read what, and what the answers look like. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { addDataset } from '../support/people.ts';
import { addPerson, addProfile, addProject, type Person, shareProject } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';

const root = mkdtempSync(join(tmpdir(), 'service-data-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const place = (...parts: string[]) => join(root, ...parts);

function put(path: string, content: string | Buffer = path): string {
  mkdirSync(dirname(place(path)), { recursive: true });
  writeFileSync(place(path), content);
  return place(path);
}

const VIEWER = 'https://viewer.example.org';
const HELLO = '0123456789';

let service: TestService;
let anna: Person & { token?: string };
let token: string;
let profile: number;

interface Got {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  text: string;
}

/** Sends the target as it is: a library would tidy it up first. */
function ask(target: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const sent = send({ hostname, port, path: target, method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const body = Buffer.concat(parts);
        resolve({ status: response.statusCode!, headers: response.headers, body, text: body.toString() });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

const bearer = (of: string) => ({ authorization: `Bearer ${of}` });
const addressOf = (path: string) => `/data/files${path.split('/').map(encodeURIComponent).join('/')}`;
const read = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  ask(addressOf(path), { ...bearer(token), ...headers }, method);

async function newPerson(fields: Record<string, unknown> = {}) {
  const person = await addPerson(service, profile, fields);
  return { ...person, token: await service.login(person.email, 'some-password') };
}

beforeAll(async () => {
  mkdirSync(place('anna'), { recursive: true });
  put('anna/a.zarr/.zattrs', '{"a": 1}');
  put('anna/a.zarr/0/0', HELLO);
  put('anna/two words/ü#?%25.bin', 'odd name');
  put('anna/empty', '');
  put('anna2/secret', 'not hers');
  put('outside/secret', 'secret');
  service = await startService({
    settings: { SERVICE_DATA_BASE_PATH: '/data/', SERVICE_DATA_ORIGINS: VIEWER, SERVICE_DATA_DIR: place('data') },
  });
  profile = await addProfile(service);
  anna = await newPerson({ email: 'anna@example.org', project_dirs: [place('anna')] });
  token = anna.token!;
});

describe('answers', () => {
  it('gives a file with everything that viewers and caches need', async () => {
    const { status, headers, text } = await read(place('anna/a.zarr/0/0'));
    expect([status, text]).toEqual([200, HELLO]);
    expect(headers).toMatchObject({
      'content-length': '10',
      'content-type': 'application/octet-stream',
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
    });
    expect(headers.etag).toMatch(/^"[^"]+"$/);
    expect(Date.parse(headers['last-modified']!)).toBeGreaterThan(0);
  });

  it.each(['.zattrs', '.zgroup', '.zarray', '.zmetadata', 'zarr.json'])('says that %s is JSON', async (name) => {
    const { headers } = await read(put(`anna/json/${name}`, '{}'));
    expect(headers['content-type']).toBe('application/json');
  });

  it('answers HEAD without the bytes, and empty files', async () => {
    const head = await read(place('anna/a.zarr/0/0'), {}, 'HEAD');
    expect([head.status, head.headers['content-length'], head.text]).toEqual([200, '10', '']);
    const empty = await read(place('anna/empty'));
    expect([empty.status, empty.headers['content-length'], empty.text]).toEqual([200, '0', '']);
  });

  it('says 304 while a file is as the client knows it, and gives it again when it was written', async () => {
    const path = put('anna/changing', 'one');
    const { headers } = await read(path);
    const known = { 'if-none-match': headers.etag! };
    expect((await read(path, known)).status).toBe(304);
    expect((await read(path, { 'if-none-match': `"x", W/${headers.etag!}` })).status).toBe(304);
    expect((await read(path, { 'if-modified-since': headers['last-modified']! })).status).toBe(304);
    expect((await read(path, { 'if-modified-since': new Date(0).toUTCString() })).status).toBe(200);
    writeFileSync(path, 'two');
    const now = await read(path, known);
    expect([now.status, now.text]).toEqual([200, 'two']);
    // also when the times were put back
    utimesSync(path, new Date(headers['last-modified']!), new Date(headers['last-modified']!));
    expect((await read(path, { 'if-none-match': now.headers.etag! })).status).toBe(200);
  });

  it.each([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-30', 206, HELLO, 'bytes 0-9/10'],
    ['bytes=8-99', 206, '89', 'bytes 8-9/10'],
    ['bytes=0-0', 206, '0', 'bytes 0-0/10'],
    ['bytes=10-', 416, undefined, 'bytes */10'],
    ['bytes=99-100', 416, undefined, 'bytes */10'],
    ['bytes=-0', 416, undefined, 'bytes */10'],
    ['bytes=0-1,3-4', 200, HELLO, undefined],
    ['bytes=5-2', 200, HELLO, undefined],
    ['bytes=a-b', 200, HELLO, undefined],
    ['bytes=-', 200, HELLO, undefined],
    ['lines=0-1', 200, HELLO, undefined],
  ])('answers the range %s with %d', async (range, status, text, contentRange) => {
    const got = await read(place('anna/a.zarr/0/0'), { range });
    expect([got.status, got.headers['content-range']]).toEqual([status, contentRange]);
    if (text !== undefined) expect([got.text, got.headers['content-length']]).toEqual([text, String(text.length)]);
  });

  it('gives a part only of the version that the client has', async () => {
    const path = place('anna/a.zarr/0/0');
    const { headers } = await read(path);
    expect((await read(path, { range: 'bytes=0-1', 'if-range': headers.etag! })).status).toBe(206);
    expect((await read(path, { range: 'bytes=0-1', 'if-range': '"another"' })).status).toBe(200);
  });

  it('says what a folder, a missing file, a pipe and an object store are', async () => {
    execFileSync('mkfifo', [place('anna/pipe')]);
    expect((await read(place('anna/a.zarr'))).status).toBe(400);
    expect((await read(place('anna/a.zarr/nothing'))).status).toBe(404);
    expect((await read(place('anna/a.zarr/0/0/below a file'))).status).toBe(404);
    expect((await read(place('anna', 'x'.repeat(300)))).status).toBe(404);
    expect((await read(place('anna/pipe'))).status).toBe(403);
  });

  it('ends the connection when a file becomes shorter while it is read', async () => {
    const path = place('anna/shrinking');
    writeFileSync(path, '');
    truncateSync(path, 200_000_000);
    const { hostname, port } = new URL(service.url);
    const got = await new Promise<{ bytes: number; complete: boolean }>((resolve, reject) => {
      const sent = send({ hostname, port, path: addressOf(path), headers: bearer(token), agent: false }, (response) => {
        let bytes = 0;
        response.once('data', () => {
          truncateSync(path, 1_000_000);
        });
        response.on('data', (part: Buffer) => (bytes += part.length));
        response.on('error', () => undefined);
        response.on('close', () => resolve({ bytes, complete: response.complete }));
      });
      sent.on('error', reject);
      sent.end();
    });
    expect(got.complete).toBe(false);
    expect(got.bytes).toBeLessThan(200_000_000);
  });

  it('answers 405 to what would change something', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await read(place('anna/a.zarr/0/0'), {}, method)).status).toBe(405);
    }
  });

  it('says that it is alive, to everybody, in the words of existing tools', async () => {
    const { status, text } = await ask('/data/alive');
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ alive: true, fractal_server_alive: true, version: expect.any(String) });
  });
});

describe('addresses', () => {
  it('takes names of every kind, decoded once', async () => {
    expect((await read(place('anna/two words/ü#?%25.bin'))).text).toBe('odd name');
    expect((await read(put('anna/%2e%2e', 'a name of percents'))).text).toBe('a name of percents');
  });

  it('does not mind repeated slashes, single dots and a query', async () => {
    const plain = addressOf(place('anna/a.zarr/0/0'));
    for (const target of [
      plain.replace('/anna/', '//anna///./'),
      `/${plain}`,
      plain.replace('/files/', '/files//'),
      `${plain}?x=../../etc#y`,
    ]) {
      expect([target, (await ask(target, bearer(token))).text]).toEqual([target, HELLO]);
    }
  });

  it.each([
    ['two dots', '/anna/../outside/secret'],
    ['encoded dots', '/anna/%2e%2e/outside/secret'],
    ['half-encoded dots', '/anna/.%2E/outside/secret'],
    ['an encoded slash', '/anna/..%2foutside%2fsecret'],
    ['an encoded slash in a name', '/anna/a.zarr%2f.zattrs'],
    ['a backslash', '/anna/..\\outside\\secret'],
    ['an encoded backslash', '/anna/..%5coutside'],
    ['a NUL', '/anna/a.zarr/0/0%00.txt'],
    ['a percent sign alone', '/anna/100%'],
    ['bytes that are no text', '/anna/%ff%fe'],
    ['an overlong slash', '/anna/..%c0%afoutside'],
  ])('refuses %s', async (_, rest) => {
    const { status, text } = await ask(`/data/files${root}${rest}`, bearer(token));
    expect([status, text]).toEqual([400, expect.stringContaining('detail')]);
    expect(text).not.toContain('secret');
  });

  it('refuses an address without a path', async () => {
    expect((await ask('/data/files', bearer(token))).status).toBe(400);
    expect((await ask('/data/files/', bearer(token))).status).toBe(403);
    expect((await ask(`/data/files?${root}/anna/a.zarr/0/0`, bearer(token))).status).toBe(400);
  });

  it('takes paths of up to 4096 bytes and more', async () => {
    const long = `${place('anna')}/${'deep/'.repeat(780)}file`;
    expect((await read(long)).status).toBe(404);
    expect((await read(`${place('anna')}/${'x/'.repeat(6000)}file`)).status).toBe(404);
  });
});

describe('people', () => {
  it('asks everybody for a token, before anything is said about files', async () => {
    for (const path of ['anna/a.zarr/0/0', 'anna/nothing', 'outside/secret', 'anna/a.zarr']) {
      expect((await ask(addressOf(place(path)))).status).toBe(401);
      expect((await ask(addressOf(place(path)), bearer('nonsense'))).status).toBe(401);
    }
    expect((await ask('/data/files/../..')).status).toBe(401);
  });

  it('takes the token from the header or the session cookie, the first valid one', async () => {
    const address = addressOf(place('anna/a.zarr/0/0'));
    const cookie = `other=1; fastapiusersauth=${token}`;
    expect((await ask(address, { cookie })).text).toBe(HELLO);
    expect((await ask(address, { cookie, ...bearer('nonsense') })).text).toBe(HELLO);
  });

  it('does not take a folder for another whose name begins alike, nor tell what is there', async () => {
    const answers = await Promise.all(
      ['anna2/secret', 'anna2/nothing', 'outside/secret', 'outside/nothing', 'outside', 'nowhere/at/all'].map((path) =>
        read(place(path)),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(403);
    expect((await read('/etc/passwd')).status).toBe(403);
  });

  it('lets people read the datasets of their projects, not those of pending invitations', async () => {
    put('bob/private/x', 'private');
    put('bob/shared/x', 'shared');
    const bob = await newPerson({ email: 'bob@example.org', project_dirs: [place('bob')] });
    const [guest, invited, stranger] = await Promise.all(
      ['guest', 'invited', 'stranger'].map((name) =>
        newPerson({ email: `${name}@example.org`, project_dirs: [place(name)], is_guest: name === 'guest' }),
      ),
    );
    const project = await addProject(service, bob, 'shared');
    await addDataset(service, project, { zarr_dir: place('bob/shared') });
    await shareProject(service, project, guest!, 'r');
    await shareProject(service, project, invited!, 'rwx', false);
    const status = async (who: { token: string }, path: string) =>
      (await ask(addressOf(place(path)), bearer(who.token))).status;
    expect(await Promise.all([bob, guest!, invited!, stranger!].map((who) => status(who, 'bob/shared/x')))).toEqual([
      200, 200, 403, 403,
    ]);
    expect(await Promise.all([bob, guest!, invited!, stranger!].map((who) => status(who, 'bob/private/x')))).toEqual([
      200, 403, 403, 403,
    ]);
  });

  it('refuses accounts that are not verified', async () => {
    const person = await service.person({ project_dirs: [place('anna')] });
    expect((await ask(addressOf(place('anna/a.zarr/0/0')), bearer(person.token))).status).toBe(403);
  });

  it('hears at once of a deactivated account, another folder and a share that ended', async () => {
    put('carl/x', 'x');
    put('carl-new/x', 'y');
    const carl = await newPerson({ email: 'carl@example.org', project_dirs: [place('carl')] });
    const status = async (path: string) => (await ask(addressOf(place(path)), bearer(carl.token))).status;
    expect(await status('carl/x')).toBe(200);
    await service.admin.patch(`/auth/users/${carl.id}/`, { project_dirs: [place('carl-new')] });
    expect([await status('carl/x'), await status('carl-new/x')]).toEqual([403, 200]);
    await service.admin.patch(`/auth/users/${carl.id}/`, { is_active: false });
    expect(await status('carl-new/x')).toBe(401);

    put('dora/set/x', 'x');
    const dora = await newPerson({ email: 'dora@example.org', project_dirs: [place('dora')] });
    const guest = await newPerson({ email: 'doras-guest@example.org', project_dirs: [place('elsewhere')] });
    const project = await addProject(service, dora, 'doras');
    await addDataset(service, project, { zarr_dir: place('dora/set') });
    await shareProject(service, project, guest, 'r');
    const seen = async () => (await ask(addressOf(place('dora/set/x')), bearer(guest.token))).status;
    expect(await seen()).toBe(200);
    const ended = await dora.client.delete(`/api/v2/project/${project}/guest/`, { query: { email: guest.email } });
    expect(ended.status).toBe(204);
    expect(await seen()).toBe(403);
  });

  it('lets nobody read where viewers are switched off', async () => {
    const off = await startService({
      settings: { SERVICE_DATA_BASE_PATH: '/data/', SERVICE_VIEWER_AUTHORIZATION_SCHEME: 'none' },
    });
    const person = await addPerson(off, await addProfile(off), { project_dirs: [place('anna')] });
    expect((await person.client.get(addressOf(place('anna/a.zarr/0/0')))).status).toBe(403);
  });
});

/** Lets a link lead in and out, many thousand times. */
const FLIP = `
import os, sys, time
swap, *targets = sys.argv[1:]
end = time.time() + 2
while time.time() < end:
    for target in targets:
        os.symlink(target, swap + '.new')
        os.replace(swap + '.new', swap)
`;

describe('a session that ends', () => {
  const EVERYWHERE = '/auth/current-user/sign-out-everywhere/';

  it('breaks off the files that are being sent, and keeps those of others', async () => {
    const large = put('anna/large', Buffer.alloc(64 * 2 ** 20));
    const open = async (of: string) => {
      const { hostname, port } = new URL(service.url);
      const options = { hostname, port, path: addressOf(large), headers: bearer(of), agent: false };
      const answer = await new Promise<IncomingMessage>((begun, failed) =>
        send(options, begun).on('error', failed).end(),
      );
      await once(answer, 'readable');
      answer.read(1);
      return answer;
    };
    /** What is left of an answer: all of it, or no more than was on its way. */
    const rest = async (answer: IncomingMessage) => {
      let bytes = 1;
      try {
        for await (const piece of answer) bytes += (piece as Buffer).length;
      } catch {
        return 'broken';
      }
      return bytes;
    };
    const person = await newPerson({ email: 'leaving@example.org', project_dirs: [place('anna')] });
    const [leaving, staying] = [await open(person.token), await open(token)];
    await service.withToken(person.token).post(EVERYWHERE);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect([await rest(leaving), await rest(staying)]).toEqual(['broken', 64 * 2 ** 20]);
  });
});

describe('links', () => {
  it('follows those that stay inside and refuses those that lead out', async () => {
    symlinkSync(place('anna/a.zarr/0/0'), place('anna/inside'));
    symlinkSync(place('anna/a.zarr'), place('anna/zarr-inside'));
    symlinkSync(place('outside/secret'), place('anna/out'));
    symlinkSync(place('outside'), place('anna/folder-out'));
    symlinkSync('../outside/secret', place('anna/relative-out'));
    symlinkSync('/proc/self/environ', place('anna/environment'));
    symlinkSync('/dev/zero', place('anna/zero'));
    expect((await read(place('anna/inside'))).text).toBe(HELLO);
    expect((await read(place('anna/zarr-inside/0/0'))).text).toBe(HELLO);
    for (const name of ['out', 'folder-out/secret', 'folder-out', 'relative-out', 'environment', 'zero']) {
      const { status, text } = await read(place('anna', name));
      expect([name, status]).toEqual([name, 403]);
      expect(text).not.toContain('secret');
    }
  });

  it('does not tell by a link what is there outside', async () => {
    symlinkSync(place('outside/nothing'), place('anna/to-nothing'));
    symlinkSync(place('anna/circle-b'), place('anna/circle-a'));
    symlinkSync(place('anna/circle-a'), place('anna/circle-b'));
    const answers = await Promise.all(
      [
        'out',
        'to-nothing',
        'folder-out/secret',
        'folder-out/nothing',
        'folder-out/a/b/c',
        'circle-a',
        'circle-a/x',
      ].map((name) => read(place('anna', name))),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(403);
  });

  it('reads a project folder that is itself a link, or lies below one', async () => {
    put('storage/eva/x', 'real');
    symlinkSync(place('storage'), place('linked'));
    const eva = await newPerson({ email: 'eva@example.org', project_dirs: [place('linked/eva')] });
    expect((await ask(addressOf(place('linked/eva/x')), bearer(eva.token))).text).toBe('real');
    // by its other name it is no folder of hers
    expect((await ask(addressOf(place('storage/eva/x')), bearer(eva.token))).status).toBe(403);
  });

  it('does not let a dataset in a link make more readable than its project folder', async () => {
    mkdirSync(place('fred'), { recursive: true });
    symlinkSync(place('outside'), place('fred/trick'));
    const fred = await newPerson({ email: 'fred@example.org', project_dirs: [place('fred')] });
    const project = await fred.client.post('/api/v2/project/', { name: 'trick' });
    const dataset = await fred.client.post(`/api/v2/project/${project.body.id}/dataset/`, {
      name: 'trick',
      project_dir: place('fred'),
      zarr_subfolder: 'trick',
    });
    expect([dataset.status, dataset.body.zarr_dir]).toEqual([201, place('fred/trick')]);
    expect((await ask(addressOf(place('fred/trick/secret')), bearer(fred.token))).status).toBe(403);
    // nor for guests, and nor when a guest's folders are larger
    const guest = await newPerson({ email: 'freds-guest@example.org', project_dirs: [place('elsewhere')] });
    await shareProject(service, project.body.id, guest, 'r');
    expect((await ask(addressOf(place('fred/trick/secret')), bearer(guest.token))).status).toBe(403);
  });

  it('never gives a byte from outside while links change under its hands', async () => {
    const swap = place('anna/swap');
    const flipping = spawn('python3', ['-c', FLIP, swap, place('anna/a.zarr/0/0'), place('outside/secret')]);
    const ended = new Promise((resolve) => flipping.once('exit', resolve));
    const seen = new Map<string, number>();
    let over = false;
    void ended.then(() => (over = true));
    while (!over) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => read(swap)));
      for (const { status, text } of answers) {
        expect(text).not.toBe('secret');
        seen.set(String(status), (seen.get(String(status)) ?? 0) + 1);
      }
    }
    expect(seen.get('200')).toBeGreaterThan(0);
    expect(seen.get('403')).toBeGreaterThan(0);
  });

  it('takes hard links for the files that they are', async () => {
    linkSync(place('anna/a.zarr/0/0'), place('anna/hard'));
    expect((await read(place('anna/hard'))).text).toBe(HELLO);
  });
});

describe('other origins', () => {
  const address = () => addressOf(place('anna/a.zarr/0/0'));

  it('lets listed ones read with credentials and see ranges', async () => {
    const { headers, status } = await ask(address(), { ...bearer(token), origin: VIEWER });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'access-control-allow-origin': VIEWER,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': expect.stringContaining('Content-Range'),
      vary: 'Origin',
    });
    const refused = await ask(address(), { origin: VIEWER });
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, VIEWER]);
  });

  it('answers what browsers ask before', async () => {
    const { status, headers } = await ask(
      address(),
      { origin: VIEWER, 'access-control-request-method': 'GET', 'access-control-request-headers': 'range' },
      'OPTIONS',
    );
    expect(status).toBe(204);
    expect(headers['access-control-allow-origin']).toBe(VIEWER);
    expect(headers['access-control-allow-headers']).toMatch(/Range.*Authorization/);
  });

  it('says nothing to others', async () => {
    for (const origin of ['https://evil.example.org', 'null', `${VIEWER}.evil.org`]) {
      const { headers } = await ask(address(), { ...bearer(token), origin });
      expect(headers['access-control-allow-origin']).toBeUndefined();
      const before = await ask(address(), { origin, 'access-control-request-method': 'GET' }, 'OPTIONS');
      expect(before.headers['access-control-allow-origin']).toBeUndefined();
    }
  });
});

describe('object stores', () => {
  it('are refused like folders, and need a package', async () => {
    const person = await newPerson({ email: 's3@example.org', project_dirs: ['s3://bucket/plates'] });
    const status = async (target: string) => (await ask(target, bearer(person.token))).status;
    expect(await status('/data/files/s3://bucket/plates/a.zarr/.zattrs')).toBe(501);
    expect(await status('/data/files/s3:/bucket/plates/a.zarr/.zattrs')).toBe(501);
    expect(await status('/data/files/s3%3A/bucket/plates/a.zarr/.zattrs')).toBe(501);
    expect(await status('/data/files/s3://bucket/plates2/a.zarr')).toBe(403);
    expect(await status('/data/files/s3://other/plates/a.zarr')).toBe(403);
    expect(await status('/data/files/s3://bucket/plates/%2e%2e/x')).toBe(400);
  });
});

describe('cost', () => {
  it('asks the database nothing for requests without a token', async () => {
    let asked = 0;
    const { pool } = service.database;
    const query = pool.query.bind(pool);
    const counting = (...args: unknown[]) => {
      asked++;
      return (query as (...args: unknown[]) => unknown)(...args);
    };
    Object.assign(pool, { query: counting });
    try {
      const answers = await Promise.all(
        Array.from({ length: 1000 }, () => service.anyone.get(addressOf(place('anna/a.zarr/0/0')))),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
      expect(asked).toBe(0);
    } finally {
      Object.assign(pool, { query });
    }
  });
});
