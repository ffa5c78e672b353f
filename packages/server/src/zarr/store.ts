/** A store for zarrita over one folder, whose files are opened only if they really lie in folders that may be read. */
import type { AbsolutePath, AsyncReadable, RangeQuery } from 'zarrita';

import { type Folders, type NotOpened, type Opened, openInside } from '../folders/index.ts';
import type { CachedFile, MetadataCache } from './metadata-cache.ts';
import { sawFile, sawNothing, sawOutside, type Sources } from './sources.ts';
import { unreadable } from './unreadable.ts';

const MEBIBYTE = 2 ** 20;
const LARGEST_METADATA = 8 * MEBIBYTE;
const LARGEST_CHUNK_FILE = 128 * MEBIBYTE;
const METADATA = /(^|\/)(\.z(attrs|group|array|metadata)|zarr\.json)$/;

/** Who reads, and what is noted about it. */
export interface Reading {
  folders: Folders;
  metadata: MetadataCache;
  /** People with equal folders share what is remembered. */
  reader: string;
  sources: Sources;
  signal: AbortSignal;
}

const REASONS: Record<Exclude<NotOpened, 'missing'>, string> = {
  outside: 'is outside the folders you can read, or a link that leads out of them',
  folder: 'is a folder where a file should be',
  special: 'is neither a file nor a folder',
  denied: 'cannot be read by the service. Ask its owner to make it readable',
};

/** The path of a key below a folder. Metadata may name anything, so it is looked at here too. */
function pathBelow(root: string, key: string): string {
  const parts = key.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || key.includes('\0')) throw unreadable(`${root} names files outside of itself.`);
  return [root, ...parts].join('/');
}

/** Undefined where there is none. Who gets a file closes it. */
export async function openFile(path: string, { folders, sources, signal }: Reading): Promise<Opened | undefined> {
  signal.throwIfAborted();
  const opened = await openInside(path, folders);
  if (opened === 'missing') {
    sawNothing(sources, path);
    return undefined;
  }
  // others may see what is here: what is made without it is for nobody else
  if (opened === 'outside') sawOutside(sources);
  if (typeof opened === 'string') throw unreadable(`${path} ${REASONS[opened]}.`);
  sawFile(sources, path, opened.stats, opened.folder);
  return opened;
}

export async function bytesOf(
  { file }: Pick<Opened, 'file'>,
  path: string,
  start: number,
  length: number,
): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(length);
  for (let done = 0; done < length;) {
    const { bytesRead } = await file.read(bytes, done, length - done, start + done);
    if (bytesRead === 0) throw unreadable(`${path} ends too early. It may be being written.`);
    done += bytesRead;
  }
  return bytes;
}

function checkedLength(path: string, length: number): number {
  const most = METADATA.test(path) ? LARGEST_METADATA : LARGEST_CHUNK_FILE;
  if (length > most) throw unreadable(`${path} is too large: more than ${most / MEBIBYTE} MiB.`);
  return length;
}

async function readOnce(path: string, reading: Reading): Promise<CachedFile> {
  const opened = await openFile(path, reading);
  if (!opened) return undefined;
  const { stats, folder, file } = opened;
  try {
    return { bytes: await bytesOf(opened, path, 0, checkedLength(path, Number(stats.size))), stats, folder };
  } finally {
    await file.close();
  }
}

/** A whole file; undefined where there is none. */
export async function readWhole(path: string, reading: Reading): Promise<Uint8Array | undefined> {
  const { metadata, reader, sources } = reading;
  if (!METADATA.test(path)) return (await readOnce(path, reading))?.bytes;
  const key = `${reader}\n${path}`;
  const before = metadata.find(key);
  const file = before ? before.file : await readOnce(path, reading);
  if (!before) metadata.keep(key, file);
  else if (file) sawFile(sources, path, file.stats, file.folder);
  else sawNothing(sources, path);
  return file?.bytes;
}

async function readRange(path: string, range: RangeQuery, reading: Reading): Promise<Uint8Array | undefined> {
  const opened = await openFile(path, reading);
  if (!opened) return undefined;
  try {
    const size = Number(opened.stats.size);
    const length = 'suffixLength' in range ? range.suffixLength : range.length;
    const start = 'suffixLength' in range ? size - length : range.offset;
    if (!(start >= 0 && length >= 0 && start + length <= size))
      throw unreadable(`${path} has a damaged index of chunks.`);
    return await bytesOf(opened, path, start, checkedLength(path, length));
  } finally {
    await opened.file.close();
  }
}

export const folderStore = (root: string, reading: Reading): AsyncReadable => ({
  get: (key: AbsolutePath) => readWhole(pathBelow(root, key), reading),
  getRange: (key: AbsolutePath, range: RangeQuery) => readRange(pathBelow(root, key), range, reading),
});
