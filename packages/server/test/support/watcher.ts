/** The thread of `watch` (traffic.ts): asks again and again, and remembers the longest wait. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

let longest = 0;
let going = true;
parentPort!.once('message', () => (going = false));

async function ask(): Promise<number> {
  const start = performance.now();
  const response = await fetch(`${workerData as string}/api/alive/`).catch(() => undefined);
  await response?.arrayBuffer();
  return response?.status === 200 ? performance.now() - start : Infinity;
}

// the first time also loads what asks
await ask();
parentPort!.postMessage('ready');
while (going) {
  longest = Math.max(longest, await ask());
  await sleep(20);
}
parentPort!.postMessage(longest);
