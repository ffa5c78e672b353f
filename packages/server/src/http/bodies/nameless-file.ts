/**
 * A file without a name: only this process has it, and it is gone when the process is, however that ends.
 *
 * Its path leads to it as long as it is open.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface NamelessFile {
  handle: FileHandle;
  path: string;
}

export async function openNamelessFile(folder: string): Promise<NamelessFile> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, randomUUID());
  const handle = await open(path, 'wx+', 0o600);
  try {
    await rm(path, { force: true });
  } catch (error) {
    await handle.close();
    throw error;
  }
  return { handle, path: `/dev/fd/${handle.fd}` };
}

/** Removes what a process left that was killed before it could take the name away. Other processes do not miss the names. */
export async function removeNames(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true })));
}
