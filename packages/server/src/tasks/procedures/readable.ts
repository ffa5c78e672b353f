/**
 * Folders that other accounts read, whatever the umask of whoever makes them: on a cluster the jobs of many people use one
 * environment.
 */
import type { Run } from './run.ts';

/** Makes a folder, and those above it that are missing, with mode 0755. */
export const makeReadableFolder = async (run: Run, path: string): Promise<void> =>
  void (await run.command(['install', '--directory', '--mode=755', path]));

/** Everybody may read what is there, and run what its owner may run. */
export const makeReadable = async (run: Run, path: string): Promise<void> =>
  void (await run.command(['chmod', '-R', 'u=rwX,go=rX', path]));
