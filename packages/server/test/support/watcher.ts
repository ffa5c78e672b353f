/**
 * The thread of `watch` (traffic.ts): asks again and again, and remembers the longest wait. A bare server in another thread
 * is asked at the same moment: what that one takes is the machine's, which others use too.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';

const BARE = `
  const server = require('node:http').createServer((request, response) => response.end('{}'));
  server.listen(0, '127.0.0.1', () => require('node:worker_threads').parentPort.postMessage(server.address().port));
`;

let longest = 0;
let going = true;
parentPort!.once('message', () => (going = false));

async function ask(url: string): Promise<number> {
  const start = performance.now();
  const response = await fetch(url).catch(() => undefined);
  await response?.arrayBuffer();
  return response?.status === 200 ? performance.now() - start : Infinity;
}

const bare = new Worker(BARE, { eval: true, execArgv: [] });
const [port] = (await once(bare, 'message')) as [number];

async function waited(): Promise<number> {
  const [service, machine] = await Promise.all([
    ask(`${workerData as string}/api/alive/`),
    ask(`http://127.0.0.1:${port}/`),
  ]);
  return Math.max(0, service - machine);
}

// the first time also loads what asks
await waited();
parentPort!.postMessage('ready');
while (going) {
  longest = Math.max(longest, await waited());
  await sleep(20);
}
parentPort!.postMessage(longest);
