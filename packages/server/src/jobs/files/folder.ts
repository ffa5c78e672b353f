/** The folder of a job: making it, and walking through its files. */
import type { Dirent } from 'node:fs';
import { chmod, lstat, mkdir, opendir, rm, unlink } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';

import { bytesBetween, hostOfOwner, isGone, openerInside, unlessGone } from '../../hosts/index.ts';
import type { Member } from './zip-write.ts';

const FOLDER_MODE = 0o755;
/** In one folder. */
const MOST_ENTRIES = 1_000_000;
/** A file this long that holds hardly anything is nearly all holes: zipped, it would be gigabytes of nothing. */
const LARGE = 2 ** 30;
const HOLES = 1000;

/**
 * Makes the folder of a job and the folders above it. `existed`: something was there already.
 * What is made gets its mode explicitly: the mode of `mkdir` is cut by the umask, which belongs to the whole process.
 */
export async function makeJobFolder(path: string): Promise<{ existed: boolean }> {
  const wanted = resolve(path);
  const firstMade = await mkdir(wanted, { recursive: true, mode: FOLDER_MODE });
  if (firstMade === undefined) return { existed: true };
  let made = resolve(firstMade);
  await chmod(made, FOLDER_MODE);
  for (const name of relative(made, wanted).split(sep).filter(Boolean)) {
    made = join(made, name);
    await chmod(made, FOLDER_MODE);
  }
  return { existed: false };
}

/**
 * Removes whatever is at a path; nothing there is fine. Files go one after the other: `rm` asks for all of a folder at
 * once, and seventy thousand requests keep everybody else waiting.
 */
export async function remove(path: string): Promise<void> {
  const about = await unlessGone(lstat(path));
  const owner = about?.isDirectory() ? await hostOfOwner(about.uid) : undefined;
  // by the account that wrote it: it could turn folders into links meanwhile
  if (owner) return owner.removeShared(path);
  // the walk would enter a link to a folder
  if (about?.isDirectory()) {
    for await (const name of filesBelow(path, 'skip')) await unlessGone(unlink(join(path, name)));
  }
  await rm(path, { recursive: true, force: true });
}

/** What happens with a file or folder that is there but cannot be read. */
export type Unreadable = 'fail' | 'skip';

/**
 * The regular files below a folder, as paths relative to it, always in the same order.
 * Symbolic links are neither listed nor followed. One folder's list is in memory at a time (for each level).
 */
export async function* filesBelow(folder: string, unreadable: Unreadable, below = ''): AsyncGenerator<string> {
  for (const entry of await entriesOf(join(folder, below), unreadable)) {
    const path = below + entry.name;
    if (entry.isDirectory()) yield* filesBelow(folder, unreadable, `${path}/`);
    else if (entry.isFile()) yield path;
  }
}

async function entriesOf(folder: string, unreadable: Unreadable): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  try {
    // not with a list of all: a folder with tens of millions of files would fill the memory
    for await (const entry of await opendir(folder, { bufferSize: 1000 })) {
      entries.push(entry);
      if (entries.length <= MOST_ENTRIES) continue;
      if (unreadable === 'skip') break;
      throw new Error(`${folder} has more than ${MOST_ENTRIES} entries`);
    }
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (unreadable === 'skip' || isGone(error)) return [];
    throw error;
  }
}

/**
 * The files of a folder as members of a zip. One is open at a time: while the reader of this generator holds it. A file
 * that grows is read up to the size it had, one that vanished is left out.
 */
export async function* folderMembers(folder: string, unreadable: Unreadable): AsyncGenerator<Member> {
  const openFile = await openerInside(folder);
  for await (const name of filesBelow(folder, unreadable)) {
    const file = await openFile(name).catch((error: unknown) => {
      if (unreadable === 'skip') return undefined;
      throw error;
    });
    if (!file) continue;
    const { handle, stored, ...facts } = file;
    try {
      if (facts.size >= LARGE && facts.size > HOLES * stored) continue;
      const content = bytesBetween(handle, 0, facts.size);
      yield { name, ...facts, content: unreadable === 'skip' ? whatCanBeRead(content) : content };
    } finally {
      await handle.close();
    }
  }
}

/** A member that began cannot be taken back, so it ends where the reading fails. */
async function* whatCanBeRead(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* content;
  } catch {
    return;
  }
}
