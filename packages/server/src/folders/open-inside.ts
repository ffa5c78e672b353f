/**
 * Opens a file only if it lies in one of some folders, wherever links on the way lead.
 *
 * What counts is the file that was opened, not the path that was asked for: a link may be changed between a look and an
 * opening. The path is first opened as a mere handle (O_PATH), which touches neither devices nor pipes; the kernel says where
 * that handle is; and what is then opened for reading is this very handle.
 */
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

import { HAS_PROC } from '../processes.ts';
import type { Folders } from './folders.ts';

/** `outside` does not tell whether there is a file. */
export type NotOpened = 'missing' | 'outside' | 'folder' | 'special' | 'denied';

export interface Opened {
  file: FileHandle;
  stats: BigIntStats;
  /** Which folder it lies in. */
  folder: string;
}

/** Linux's O_PATH, which Node has no name for. Elsewhere the file itself is opened. */
const AS_PATH = HAS_PROC ? 0o10000000 : constants.O_RDONLY | constants.O_NONBLOCK;
const FOR_READING = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/** Where an opened path really is; undefined when that cannot be told. */
async function realPathOf(handle: FileHandle, path: string): Promise<string | undefined> {
  if (HAS_PROC) return readlink(`/proc/self/fd/${handle.fd}`);
  // the path may lead elsewhere by now: then it is another file
  const real = await realpath(path);
  const [here, there] = await Promise.all([handle.stat({ bigint: true }), stat(real, { bigint: true })]);
  return here.ino === there.ino && here.dev === there.dev ? real : undefined;
}

const reopened = (handle: FileHandle, path: string) =>
  HAS_PROC ? open(`/proc/self/fd/${handle.fd}`, FOR_READING) : open(path, FOR_READING | constants.O_NOFOLLOW);

/**
 * Why a path could not be opened. A link that leads out must not tell whether there is something at its end, so the last
 * thing on the way that exists is looked at.
 */
async function whyNot(path: string, code: string | undefined, folders: Folders): Promise<NotOpened> {
  for (let at = path; folders.cover(at) && at !== '/'; at = dirname(at)) {
    const entry = await lstat(at).catch(() => undefined);
    if (entry === undefined) continue;
    const real = await realpath(at).catch(() => undefined);
    if (real === undefined ? entry.isSymbolicLink() : (await folders.holding(real)) === undefined) return 'outside';
    break;
  }
  return code === 'EACCES' || code === 'EPERM' ? 'denied' : 'missing';
}

async function judge(handle: FileHandle, path: string, folders: Folders): Promise<Opened | NotOpened> {
  const real = await realPathOf(handle, path);
  const folder = real === undefined ? undefined : await folders.holding(real);
  if (folder === undefined) return 'outside';
  const kind = await handle.stat();
  if (kind.isDirectory()) return 'folder';
  if (!kind.isFile()) return 'special';
  try {
    const file = await reopened(handle, real!);
    return { file, stats: await file.stat({ bigint: true }), folder };
  } catch (error) {
    if (codeOf(error) === 'EACCES' || codeOf(error) === 'EPERM') return 'denied';
    throw error;
  }
}

/** `path` is absolute and normalised. Who gets a file closes it. */
export async function openInside(path: string, folders: Folders): Promise<Opened | NotOpened> {
  if (!folders.cover(path)) return 'outside';
  let handle: FileHandle;
  try {
    handle = await open(path, AS_PATH);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EMFILE' || code === 'ENFILE' || code === 'EIO') throw error;
    return whyNot(path, code, folders);
  }
  try {
    return await judge(handle, path, folders);
  } finally {
    await handle.close();
  }
}
