/**
 * Says that this process runs from a build, so that nobody removes it (packages/server/src/web/builds.ts): a file in the
 * build with the name of the host and the number of the process, touched as long as it runs.
 */
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

const TOUCH_EVERY_MS = 3600_000;

/** An account that may only read works all the same. */
function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // nothing that the pages need
  }
}

export function markInUse(build: string): void {
  const folder = join(build, 'used-by');
  const mark = join(folder, `${hostname()}-${process.pid}`);
  quietly(() => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(mark, `${hostname()} ${process.pid}`);
  });
  const touch = () => utimesSync(mark, new Date(), new Date());
  setInterval(() => quietly(touch), TOUCH_EVERY_MS).unref();
  process.once('exit', () => quietly(() => rmSync(mark, { force: true })));
}
