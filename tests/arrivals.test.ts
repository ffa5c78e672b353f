/** Many who come at once: the system keeps them in a line until the service takes them. */
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, expect, it } from 'vitest';

import { READY, start } from './support/mounted.ts';

const MANY = 1000;
const sockets: Socket[] = [];
afterAll(() => sockets.forEach((socket) => socket.destroy()));

it('a thousand clients that come while the service is held up are all answered, and none has to come again', async () => {
  const service = start({ SERVICE_WEB_CLIENT: 'false' });
  const url = new URL((await service.said(READY))[1]!);
  let connected = 0;
  service.process.kill('SIGSTOP');
  try {
    for (let one = 0; one < MANY; one++) {
      const socket = connect(Number(url.port), url.hostname, () => connected++).on('error', () => undefined);
      socket.write(`GET /api/alive/ HTTP/1.1\r\nHost: ${url.host}\r\nConnection: close\r\n\r\n`);
      sockets.push(socket);
    }
    // who finds no room in the line is not connected before the service goes on
    await expect.poll(() => connected, { timeout: 60_000 }).toBe(MANY);
  } finally {
    service.process.kill('SIGCONT');
  }
  const answers = await Promise.all(sockets.map((socket) => text(socket)));
  expect(new Set(answers.map((answer) => answer.split('\r\n')[0]))).toEqual(new Set(['HTTP/1.1 200 OK']));
});
