/** Forms of strangers that arrive slowly: whatever their type, they have a deadline, and few are read at a time. */
import { connect, type Socket } from 'node:net';

import { afterEach, beforeAll, expect, it, vi } from 'vitest';

import { startService, type TestService } from '../support/server.ts';

const STRANGERS_AT_ONCE = 64;
const DEADLINE_MS = 30_000;

let service: TestService;
beforeAll(async () => {
  service = await startService({ background: false });
});

const sockets: Socket[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const socket of sockets.splice(0)) socket.destroy();
});

const LONG = 'x'.repeat(20_000);
const FORMS: [kind: string, type: string, begin: string][] = [
  ['urlencoded', 'application/x-www-form-urlencoded', 'username='],
  [
    'multipart',
    'multipart/form-data; boundary=b',
    '--b\r\nContent-Disposition: form-data; name="username"\r\n\r\nada\r\n' +
      '--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n',
  ],
];

/** Sends a part of a form; the answer is all that comes until the connection ends. */
function sendPart(type: string, part: string, length = 40_000): Promise<string> {
  const { port } = new URL(service.url);
  const socket = connect(Number(port), '127.0.0.1');
  sockets.push(socket);
  socket.write(
    `POST /auth/token/login/ HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n${part}`,
  );
  const { promise, resolve } = Promise.withResolvers<string>();
  let said = '';
  socket.on('data', (chunk) => (said += String(chunk)));
  socket.on('error', () => resolve(said)).on('close', () => resolve(said));
  return promise;
}

const signIn = (type: string, body: string) =>
  service.anyone.raw('/auth/token/login/', { method: 'POST', headers: { 'content-type': type }, body });

/** As long as 40 kB are, so that it takes a slot. */
const whole = (type: string, begin: string) =>
  signIn(type, type.startsWith('multipart') ? `${begin}${LONG}\r\n--b--\r\n` : `${begin}ada&password=${LONG}`);

it.each(FORMS)('are ended after a while: %s', async (_, type, begin) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const timers = vi.getTimerCount();
  const small = sendPart(type, begin, 1000);
  const large = sendPart(type, begin + LONG);
  await vi.waitUntil(() => vi.getTimerCount() >= timers + 2, { timeout: 10_000 });
  await vi.advanceTimersByTimeAsync(DEADLINE_MS);
  for (const said of [await small, await large]) {
    expect(said).toMatch(/^HTTP\/1\.1 408 [^]*connection: close[^]*The body took too long to arrive/i);
  }
});

it.each(FORMS)('take slots, and give them back: %s', async (_, type, begin) => {
  for (let number = 0; number < STRANGERS_AT_ONCE; number++) void sendPart(type, begin + LONG);
  for (const [, other, start] of FORMS) {
    await expect.poll(async () => (await whole(other, start)).status).toBe(429);
  }
  // people sign in with small forms
  expect((await signIn('application/x-www-form-urlencoded', 'username=ada&password=x')).status).toBe(400);
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const [, other, start] of FORMS) {
    await expect.poll(async () => (await whole(other, start)).status).toBe(400);
  }
});
