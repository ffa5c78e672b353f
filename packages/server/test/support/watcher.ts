/** The thread of `watch` (traffic.ts): asks again and again, and remembers the longest wait. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

let longest = 0;
let going = true;
parentPort!.once('message', () => (going = false));

while (going) {
  const start = performance.now();
  const response = await fetch(`${workerData as string}/api/alive/`).catch(() => undefined);
  await response?.arrayBuffer();
  longest = response?.status === 200 ? Math.max(longest, performance.now() - start) : Infinity;
  await sleep(20);
}
parentPort!.postMessage(longest);
