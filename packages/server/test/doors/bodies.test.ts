/** Bodies that are meant to do harm: what they cost is bounded, and others are answered meanwhile. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { LONG } from '../support/long.ts';
import { type StartedService, startProcess } from '../support/started.ts';
import { MB, repeated, type Sent, type Watch } from '../support/traffic.ts';

const MOST_MEMORY = 600 * MB;
const LONGEST_WAIT_MS = 5000;
const HUGE = 120 * MB;
const IMAGES = LONG ? 50_000 : 20_000;

let service: StartedService;
let importing: string;
let stranger: string;
beforeAll(async () => {
  service = await startProcess({ SERVICE_MAX_UPLOAD_SIZE: '16M' });
  importing = `/api/v2/project/${service.project}/dataset/import/`;
  await service.call('POST', '/auth/register/', {
    email: 'stranger@example.org',
    password: 'some-password',
    project_dirs: ['/p'],
  });
  stranger = await service.login('stranger@example.org', 'some-password');
});

afterAll(() => service.stop());

let others: Watch;
beforeEach(async () => {
  service.forgetPeak();
  others = await service.watch();
});
afterEach(async () => {
  expect(await others.end()).toBeLessThan(LONGEST_WAIT_MS);
  expect(service.peakMemory()).toBeLessThan(MOST_MEMORY);
  await expect.poll(() => service.leftovers()).toEqual([]);
});

const detailOf = (text: string) => (JSON.parse(text) as { detail: unknown }).detail;

function* numbers(bytes: number): Generator<Buffer | string> {
  yield '{"name":"x","zarr_dir":"/p/x","images":[';
  yield* repeated('1,', bytes);
  yield '1]}';
}

describe('120 MB of numbers', () => {
  it.each<[string, () => Partial<Sent>, number]>([
    ['without a token, announced', () => ({ length: HUGE + 43 }), 401],
    ['without a token, not announced', () => ({}), 401],
    ['with a token that is none', () => ({ token: 'a.b.c' }), 401],
    ['with a token that does not open this door', () => ({ token: stranger }), 403],
  ])('%s are refused before they are read', async (_, how, status) => {
    const answer = await service.send({ path: importing, chunks: numbers(HUGE), ...how() });
    expect([answer.status, answer.headers.connection]).toEqual([status, 'close']);
    expect(answer.sent).toBeLessThan(20 * MB);
  });

  it('with a token are refused for their number of values', async () => {
    const answer = await service.send({ path: importing, token: service.token, chunks: numbers(HUGE) });
    expect([answer.status, detailOf(answer.text)]).toEqual([413, expect.stringContaining('values')]);
    expect(answer.sent).toBeLessThan(40 * MB);
  });

  it.each(['/api/v2/nothing/', '/api/alive/', '/metrics'])(
    'sent to %s, which takes no body, are not kept',
    async (path) => {
      const answer = await service.send({ path, chunks: numbers(HUGE) });
      expect([404, 405]).toContain(answer.status);
      expect(answer.headers.connection).toBe('close');
    },
  );

  it('sent with a GET are not kept', async () => {
    const answer = await service.send({ path: '/api/alive/', method: 'GET', chunks: numbers(HUGE) });
    expect(answer.status).toBe(200);
  });

  it('sent compressed are not unpacked', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const chunks = [gzipSync(Buffer.concat([...numbers(HUGE)].map((piece) => Buffer.from(piece))))];
    const answer = await service.send({ path: importing, token: service.token, headers, chunks });
    expect([answer.status, detailOf(answer.text)]).toEqual([
      415,
      'The body is compressed (gzip). Send it without compression.',
    ]);
    expect(await service.send({ path: importing, headers, chunks })).toMatchObject({ status: 401 });
  });

  it('sent as another type are not kept', async () => {
    const answer = await service.send({
      path: importing,
      headers: { 'content-type': 'text/plain' },
      chunks: numbers(HUGE),
    });
    expect(answer.status).toBe(401);
  });
});

describe('bodies as large as is allowed', () => {
  it('of millions of values that are no images are refused without delay for others', async () => {
    const answer = await service.send({ path: importing, token: service.token, chunks: numbers(9 * MB) });
    expect(answer.status).toBe(422);
    expect((detailOf(answer.text) as unknown[]).length).toBeLessThanOrEqual(1000);
  });

  it('of millions of empty objects are refused without delay for others', async () => {
    function* objects() {
      yield '{"name":"x","zarr_dir":"/p/x","images":[';
      yield* repeated('{},', 7 * MB);
      yield '{}]}';
    }
    const answer = await service.send({ path: importing, token: service.token, chunks: objects() });
    expect([413, 422]).toContain(answer.status);
  });

  it('of ordinary operations are bounded as well', async () => {
    function* nested() {
      yield '{"name":"x","viewer_paths":[';
      yield* repeated('{},', 6 * MB);
      yield '{}]}';
    }
    const answer = await service.send({ path: '/auth/group/', token: service.token, chunks: nested() });
    expect([answer.status, detailOf(answer.text)]).toEqual([413, expect.stringContaining('values')]);
  });

  it('that are deep are refused when they are', async () => {
    for (const text of ['[', '{"a":']) {
      const answer = await service.send({ path: importing, token: service.token, chunks: repeated(text, HUGE) });
      expect(answer.status).toBe(400);
      expect(answer.sent).toBeLessThan(20 * MB);
    }
  });

  it('with images are taken in, for many at once', async () => {
    const image = (n: number) =>
      `{"zarr_url":"/p/x/plate.zarr/${n}","origin":null,"attributes":{"plate":"p","well":${n % 384},"z":1.0},"types":{"is_3D":true}}`;
    const body = `{"name":"x","zarr_dir":"/p/x","images":[${Array.from({ length: IMAGES }, (_, n) => image(n)).join(',')}]}`;
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => service.send({ path: importing, token: service.token, chunks: [body] })),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(answers.map(({ text }) => (JSON.parse(text) as { image_count: number }).image_count)).toEqual(
      Array.from({ length: 4 }, () => IMAGES),
    );
  }, 120_000);
});

describe('many at once', () => {
  it('a thousand bodies of 1 MB without a token are answered and not kept', async () => {
    const body = Buffer.from(`[${'{},'.repeat((MB - 10) / 3)}0]`);
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, n) =>
        sleep(n % 100).then(() =>
          service.send({ path: importing, chunks: [body], length: body.length }).catch(() => undefined),
        ),
      ),
    );
    const statuses = new Set(answers.map((answer) => answer?.status));
    expect(statuses.has(401)).toBe(true);
    expect([...statuses].filter((status) => status !== undefined && status !== 401)).toEqual([]);
  }, 120_000);

  it('five hundred that send a byte a second do not keep others from signing in', async () => {
    const { hostname, port } = new URL(service.url());
    const head = (path: string, length: number) =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${length}\r\n\r\n`;
    const sockets = Array.from({ length: 500 }, () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.write(head('/auth/token/login/', 60_000) + 'x'.repeat(59_000));
      return socket;
    });
    await sleep(1000);
    for (const socket of sockets) socket.write('y');
    expect(await service.login('stranger@example.org', 'some-password')).toEqual(expect.any(String));
    for (const socket of sockets) socket.destroy();
  });
});

const BOUNDARY = 'xxxx';
const MULTIPART = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
const PIP = '/api/v2/task/collect/pip/';
const field = (name: string, value: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const fileHead = (name: string, filename: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\n\r\n`;
const END = `--${BOUNDARY}--\r\n`;

describe('forms', () => {
  it('of a gigabyte are refused at the door', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const [path, token, status] of [
      ['/auth/token/login/', undefined, 413],
      [PIP, undefined, 401],
      [PIP, service.token, 413],
    ] as const) {
      const answer = await service.send({ path, token, headers: form, chunks: repeated('a=b&', 1024 * MB) });
      expect([path, answer.status, answer.headers.connection]).toEqual([path, status, 'close']);
      expect(answer.sent).toBeLessThan(20 * MB);
    }
  }, 60_000);

  it.each([
    ['parts', (n: number) => `${fileHead(`f${n}`, 'a.whl')}x\r\n`],
    ['fields', (n: number) => field(`f${n}`, 'x')],
  ])('of a hundred thousand %s are refused', async (_, part) => {
    const body = Array.from({ length: 100_000 }, (__, n) => part(n)).join('') + END;
    const answer = await service.send({ path: PIP, token: service.token, headers: MULTIPART, chunks: [body] });
    expect(answer.status).toBe(413);
  });

  it('with fields of many megabytes are refused', async () => {
    const body = Array.from({ length: 14 }, (_, n) => field(`f${n}`, 'x'.repeat(MB - 1))).join('') + END;
    const answer = await service.send({ path: PIP, token: service.token, headers: MULTIPART, chunks: [body] });
    expect(answer.status).toBe(413);
  });

  it('with files are taken only where an operation takes files', async () => {
    const body = `${field('username', 'a')}${field('password', 'b')}${fileHead('file', 'x')}${'x'.repeat(10_000)}\r\n${END}`;
    const answer = await service.send({ path: '/auth/token/login/', headers: MULTIPART, chunks: [body] });
    expect([answer.status, detailOf(answer.text)]).toEqual([422, [expect.objectContaining({ loc: ['body', 'file'] })]]);
  });

  it('with a large file leave nothing on disk for who may not send one', async () => {
    function* file() {
      yield fileHead('file', 'a-1.0-py3-none-any.whl');
      for (const chunk of repeated('x', 12 * MB)) {
        expect(service.leftovers()).toEqual([]);
        yield chunk;
      }
      yield `\r\n${END}`;
    }
    for (const [path, token, status] of [
      [PIP, undefined, 401],
      [PIP, stranger, 403],
      ['/auth/token/login/', undefined, 422],
    ] as const) {
      const answer = await service.send({ path, token, headers: MULTIPART, chunks: file() });
      expect([path, answer.status]).toEqual([path, status]);
    }
  });

  it('with files that are too large together are refused, and nothing stays', async () => {
    function* files() {
      for (const name of ['file', 'file']) {
        yield fileHead(name, 'a-1.0-py3-none-any.whl');
        yield* repeated('x', 10 * MB);
        yield '\r\n';
      }
      yield END;
    }
    const answer = await service.send({ path: PIP, token: service.token, headers: MULTIPART, chunks: files() });
    expect(answer.status).toBe(413);
  });

  it('that break off leave nothing on disk', async () => {
    const { hostname, port } = new URL(service.url());
    const begin = async () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.write(
        `POST ${PIP} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.token}\r\nContent-Type: ${MULTIPART['content-type']}\r\n` +
          `Content-Length: ${10 * MB}\r\n\r\n${fileHead('file', 'a-1.0-py3-none-any.whl')}${'x'.repeat(2 * MB)}`,
      );
      await expect.poll(() => service.leftovers().length).toBeGreaterThan(0);
      return socket;
    };
    (await begin()).destroy();
    await expect.poll(() => service.leftovers()).toEqual([]);
    await others.end();
    const socket = await begin();
    await service.killAndStart();
    socket.destroy();
    others = await service.watch();
    expect(service.leftovers()).toEqual([]);
  });
});
