/** Reads files of jobs that may grow, shrink, vanish or turn into links while they are read. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

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
  modified: Date;
  mode: number;
}

/**
 * Opens a regular file. Undefined when there is none: gone, a symbolic link, a folder, a pipe.
 * The kind is asked of the open file, so that nobody can exchange it between the question and the reading.
 */
export async function openRegular(path: string): Promise<OpenFile | undefined> {
  let handle: FileHandle;
  try {
    // without NONBLOCK the opening of a pipe waits for a writer
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ENXIO: a socket
    if (isGone(error) || code === 'ELOOP' || code === 'ENXIO') return undefined;
    throw error;
  }
  try {
    const found = await handle.stat();
    if (found.isFile()) return { handle, size: found.size, modified: found.mtime, mode: found.mode };
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
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
