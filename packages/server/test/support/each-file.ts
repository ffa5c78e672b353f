/** Runs with every test file. Files of one worker share their modules, which saves half of the time: nothing of a file may stay. */
import { afterAll, vi } from 'vitest';

import { endFile } from './file-end.ts';

// registered first, so that it comes last
afterAll(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await endFile();
}, 60_000);
