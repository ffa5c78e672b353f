/**
 * The zip beside the folder of a job, made when the job is over.
 *
 * It can be killed at any point and called again. The zip gets its name only when it is complete and on the disk, and the
 * folder goes only after that. When an earlier call was killed while the folder went, a part of the files is in the zip
 * only: a new zip takes over what the folder does not have any more.
 */
import { lstat, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { filesBelow, folderMembers, remove } from './folder.ts';
import { ignored } from '../../guard.ts';
import { hostOfOwner, unlessGone } from '../../hosts/index.ts';
import { openZip, type OpenZip, type ZipMember } from './zip-read.ts';
import { type Member, zipOf } from './zip-write.ts';

/** Jobs with smaller zips keep their folder as well. */
const FOLDER_GOES_FROM_BYTES = 1024 * 1024;

export const zipPath = (working_dir: string): string => `${working_dir}.zip`;
export const temporaryZipPath = (working_dir: string): string => `${working_dir}_tmp.zip`;

/**
 * Zips the folder of a job, and removes the folder when the zip has it all and at least 1 MiB. Without a folder there is
 * nothing to do. After an error everything is as before.
 */
export async function archiveJob(working_dir: string): Promise<void> {
  await archiveFolder(working_dir, FOLDER_GOES_FROM_BYTES);
}

/** Tells whether the folder is gone. */
export async function archiveFolder(working_dir: string, fromBytes: number): Promise<boolean> {
  const temporary = temporaryZipPath(working_dir);
  const about = await unlessGone(lstat(working_dir));
  if (!about?.isDirectory()) {
    await rm(temporary, { force: true });
    return true;
  }
  const owner = await hostOfOwner(about.uid);
  // the next task of the account must not read it: the zip is for the service alone, and the folder always goes
  const [mode, folderGoesFromBytes] = owner ? [0o600, 0] : [0o644, fromBytes];
  // what was written for the account alone goes into the zip too; the service's own log is not the account's to open
  await owner?.run(['chmod', '-R', 'u+rwX,g+rX', '--', working_dir]).catch(ignored);
  try {
    await writeZip(working_dir, temporary, mode);
    await rename(temporary, zipPath(working_dir));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await sync(dirname(working_dir));
  if (!(await zipHasAll(working_dir, folderGoesFromBytes))) return false;
  await remove(working_dir);
  return true;
}

async function writeZip(working_dir: string, path: string, mode: number): Promise<void> {
  const earlier = await openZip(zipPath(working_dir));
  const file = await open(path, 'w', mode);
  try {
    for await (const block of zipOf(membersOf(working_dir, earlier))) await file.writeFile(block);
    await file.sync();
  } finally {
    await file.close();
    earlier?.close();
  }
}

async function* membersOf(working_dir: string, earlier: OpenZip | undefined): AsyncGenerator<Member> {
  const inFolder = new Set<string>();
  for await (const member of folderMembers(working_dir, 'fail')) {
    inFolder.add(member.name);
    yield member;
  }
  if (!earlier) return;
  // the directory first, then the data: going to and fro between them is slow
  const onlyInZip: ZipMember[] = [];
  for await (const member of earlier.members) if (!inFolder.has(member.name)) onlyInZip.push(member);
  for (const { content, ...facts } of onlyInZip) yield { ...facts, content: await content() };
}

/** A name that was renamed is on the disk only when its folder is. */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Whether the zip is large enough and has every file of the folder, with all its bytes. */
async function zipHasAll(working_dir: string, fromBytes: number): Promise<boolean> {
  const zip = await openZip(zipPath(working_dir));
  if (!zip) return false;
  const sizes = new Map<string, number>();
  try {
    if (zip.bytes < fromBytes) return false;
    for await (const { name, size } of zip.members) sizes.set(name, size);
  } finally {
    zip.close();
  }
  for await (const name of filesBelow(working_dir, 'fail')) {
    const zipped = sizes.get(name);
    if (zipped === undefined || zipped !== (await unlessGone(lstat(join(working_dir, name))))?.size) return false;
  }
  return true;
}
