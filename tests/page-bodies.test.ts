/** How much pages take: forms are small, and what is larger is neither kept nor read to its end. */
import { readFileSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { oneIn } from '../packages/server/test/support/long.ts';
import { START_MS, startWebProcess, variables } from '../packages/web/test/server/built-web.ts';
import { READY, start } from './support/mounted.ts';
import type { Running } from './support/processes.ts';
import { ask } from './support/raw-http.ts';

const MEGABYTE = 1024 ** 2;
const HUGE = 300 * MEGABYTE;
const AT_ONCE = 3;
/** What the buffers of a connection may hold, on both sides. */
const ON_THE_WAY = 32 * MEGABYTE;
const MOST_MEMORY = 600 * MEGABYTE;
const FORM = 'application/x-www-form-urlencoded';

interface WebServer {
  url: string;
  process: Running;
}
const webServers: Record<string, WebServer> = {};
let upstream: Server;
let greedy: Server;
let greedyUrl: string;
let received = 0;

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Takes whatever comes: what the same attack takes on this machine where nobody refuses it. */
function startGreedy(): Promise<string> {
  greedy = createServer((request, response) => request.resume().once('end', () => response.end()));
  return listen(greedy);
}

/** The API as a web server sees it that stands alone: slow to read, and it tells how much has come. */
function startUpstream(): Promise<string> {
  upstream = createServer((request, response) => {
    if (request.method === 'GET') return response.end('{"alive": true, "version": "1"}');
    request.on('data', (chunk: Buffer) => (received += chunk.length)).on('end', () => response.end('{}'));
    request.pause();
    setTimeout(() => request.resume(), 2000);
    return response;
  });
  return listen(upstream);
}

beforeAll(async () => {
  greedyUrl = await startGreedy();
  const service = start();
  webServers['on the port of the API'] = { url: (await service.said(READY))[1]!, process: service };
  const web = await startWebProcess(variables(await startUpstream()));
  webServers['alone'] = { url: (await web.said(/Listening on (http:\/\/\S+)/))[1]!, process: web };
}, START_MS);

afterAll(() => {
  for (const server of [upstream, greedy]) {
    server.close();
    server.closeAllConnections();
  }
});

const peakMemory = ({ process }: WebServer) =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${process.process.pid}/status`, 'utf8'))![1]) * 1024;

/** Sends until everything is sent, there is an answer, or the connection is cut. */
async function pour(url: string, target: string, headers: Record<string, string>, size: number) {
  const request = httpRequest(url + target, { method: 'POST', headers: { origin: url, ...headers } });
  let status: number | 'cut' | undefined;
  const over = new Promise<void>((resolve) => {
    request.once('response', (response) => {
      status = response.statusCode!;
      response.resume().once('close', resolve).once('error', resolve);
    });
    request.once('error', () => {
      status ??= 'cut';
      resolve();
    });
  });
  const chunk = Buffer.alloc(MEGABYTE, 'a');
  let sent = 0;
  for (; sent < size && status === undefined; sent += chunk.length) {
    if (request.write(chunk)) continue;
    await Promise.race([new Promise((resolve) => request.once('drain', resolve)), over]);
  }
  if (sent >= size) request.end();
  await over;
  request.destroy();
  return { status, sent };
}

const pourOften = (url: string, target: string, headers: Record<string, string>) =>
  Promise.all(Array.from({ length: AT_ONCE }, () => pour(url, target, headers, HUGE)));

async function timeToTakeAll(): Promise<number> {
  const began = Date.now();
  for (const poured of await pourOften(greedyUrl, '/', {})) expect(poured).toEqual({ status: 200, sent: HUGE });
  return Date.now() - began;
}

/** The longest that others wait meanwhile. */
async function longestWait(webServer: WebServer, work: Promise<unknown>): Promise<number> {
  let longest = 0;
  let over = false;
  void work.finally(() => (over = true));
  while (!over) {
    const began = Date.now();
    await ask(webServer.url, '/alive');
    longest = Math.max(longest, Date.now() - began);
    await sleep(50);
  }
  return longest;
}

describe.each(['on the port of the API', 'alone'])('pages %s', (name) => {
  const webServer = () => webServers[name]!;

  it.each(
    oneIn<[string, string, Record<string, string>]>(
      2,
      [
        ['the sign-in form, announced', '/auth/login?/login', { 'content-type': FORM, 'content-length': String(HUGE) }],
        ['the sign-in form, in pieces', '/auth/login?/login', { 'content-type': FORM }],
        ['the sign-in form as multipart', '/auth/login?/login', { 'content-type': 'multipart/form-data; boundary=b' }],
        ['a form of the admin area', '/v2/admin/impersonate', { 'content-type': FORM }],
        ['logout', '/auth/token/logout', { 'content-type': 'text/plain' }],
        ['an address that is not there', '/not-here', { 'content-type': FORM }],
      ],
      name === 'alone' ? 1 : 0,
    ),
  )('do not take 300 MB: %s', async (_, target, headers) => {
    const attacks = pourOften(webServer().url, target, headers);
    const [wait, takingAll] = await Promise.all([longestWait(webServer(), attacks), timeToTakeAll()]);
    for (const { status, sent } of await attacks) {
      expect([413, 'cut']).toContain(status);
      expect(sent).toBeLessThan(ON_THE_WAY);
    }
    // a fraction of that time on a free machine; on a busy one both vary, by as much as this leaves room for
    expect(wait).toBeLessThan(3 * takingAll);
    expect(peakMemory(webServer())).toBeLessThan(MOST_MEMORY);
  });

  it('say how large a form may be', async () => {
    const { url } = webServer();
    const headers = { origin: url, 'content-type': FORM };
    const send = (bytes: number) =>
      ask(url, '/auth/login?/login', { method: 'POST', headers, body: `username=${'a'.repeat(bytes - 9)}` });
    expect((await send(64 * 1024)).status).toBe(400);
    const { status, text, headers: answered } = await send(64 * 1024 + 1);
    expect([status, text, answered['connection']]).toEqual([413, expect.stringContaining('64 kB'), 'close']);
  });
});

it('a call of the API of any size passes through, and the web server holds little of it', async () => {
  const webServer = webServers['alone']!;
  const before = received;
  const work = pour(webServer.url, '/api/v2/anything', { 'content-type': 'application/octet-stream' }, HUGE);
  const began = Date.now();
  const wait = await longestWait(webServer, work);
  const took = Date.now() - began;
  expect(await work).toEqual({ status: 200, sent: HUGE });
  expect(received - before).toBe(HUGE);
  // who asks meanwhile waits neither for the API, which does not read at first, nor for the whole body
  expect(wait).toBeLessThan(took / 2);
  expect(peakMemory(webServer)).toBeLessThan(MOST_MEMORY);
});
