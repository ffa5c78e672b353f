/** What this process holds in memory, without what waits to be collected. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

export function memoryHeld(): NodeJS.MemoryUsage {
  collectGarbage();
  return process.memoryUsage();
}
