/**
 * Reads files that somebody else writes: they may grow, shrink, vanish, turn into links or be pipes that never answer.
 *
 * The kind of a file is asked of the open file, so that nobody can exchange it between the question and the reading, and
 * nothing is read whole that has no limit.
 */
import { constants, readlinkSync } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { HAS_PROC } from '../processes.ts';

const CHUNK = 64 * 1024;

/** Nothing is there (any more). */
export const isGone = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** The value of `work`, or undefined when what it asked for is not there. */
export async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

export interface OpenFile {
  handle: FileHandle;
  size: number;
  /** Bytes that it takes on the disk: less than its size where it has holes. */
  stored: number;
  modified: Date;
  mode: number;
}

/** Opens a regular file. Undefined when there is none: gone, a symbolic link, a folder, a pipe, a device. */
export async function openRegular(path: string, { links = false } = {}): Promise<OpenFile | undefined> {
  let handle: FileHandle;
  try {
    // without NONBLOCK the opening of a pipe waits for a writer, and keeps one of the few threads that read files
    const flags = constants.O_RDONLY | constants.O_NONBLOCK;
    handle = await open(path, links ? flags : flags | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ENXIO: a socket
    if (isGone(error) || code === 'ELOOP' || code === 'ENXIO') return undefined;
    throw error;
  }
  try {
    const found = await handle.stat();
    if (found.isFile()) {
      return { handle, size: found.size, stored: found.blocks * 512, modified: found.mtime, mode: found.mode };
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

/** Whether the path, without a link on the way, is that of the open file. */
async function isAt(handle: FileHandle, path: string): Promise<boolean> {
  if (HAS_PROC) return readlinkSync(`/proc/self/fd/${handle.fd}`) === path;
  if ((await unlessGone(realpath(path))) !== path) return false;
  const [opened, there] = await Promise.all([handle.stat({ bigint: true }), unlessGone(stat(path, { bigint: true }))]);
  return opened.ino === there?.ino && opened.dev === there.dev;
}

/**
 * Opens regular files inside a folder, whose own path may have links. A link anywhere on the way from there leads elsewhere, so
 * there is nothing to open; the system is asked which file it opened, since a folder may become a link meanwhile.
 */
export async function openerInside(folder: string): Promise<(name: string) => Promise<OpenFile | undefined>> {
  const real = await unlessGone(realpath(folder));
  return async (name) => {
    if (real === undefined) return undefined;
    const path = join(real, name);
    const file = await openRegular(path);
    if (!file || (await isAt(file.handle, path))) return file;
    await file.handle.close();
    return undefined;
  };
}

/** The bytes from `start` up to, not including, `end`; fewer when the file ends before. */
export async function* bytesBetween(handle: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let position = start; position < end;) {
    const wanted = Math.min(CHUNK, end - position);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

export async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all.length === 1 ? all[0]! : Buffer.concat(all);
}

/** The end of a small file, at most so many bytes; undefined when there is no such file. */
export async function readEnd(path: string, most: number): Promise<Buffer | undefined> {
  const file = await openRegular(path);
  if (!file) return undefined;
  try {
    return await collect(bytesBetween(file.handle, Math.max(0, file.size - most), file.size));
  } finally {
    await file.handle.close();
  }
}
