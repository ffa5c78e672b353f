/**
 * Loaded before a service (`node --import`): now and then garbage is collected, and the most memory that was held then, in
 * megabytes, is written to the file HELD_MEMORY. What nobody holds any more would count for as long as Node leaves it there.
 */
import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/** At most this part of the processor: the service has work to do. Waits for a busy machine do not count: garbage would grow. */
const PART = 1 / 10;
const PAUSE_MS = 100;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');
let most = 0;

function look() {
  const begin = process.threadCpuUsage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  const held = Math.ceil((heapUsed + external) / 1024 / 1024);
  if (held > most) {
    most = held;
    writeFileSync(process.env.HELD_MEMORY, String(most));
  }
  const { user, system } = process.threadCpuUsage(begin);
  setTimeout(look, Math.max(PAUSE_MS, (user + system) / 1000 / PART)).unref();
}

if (isMainThread) setTimeout(look, PAUSE_MS).unref();
