/** What is read of the files of a job on a cluster: the end of an error stream, and logs that become files here. */
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { FileReader, WantedFile } from './file-reader.ts';

const MEBIBYTE = 2 ** 20;
/** Behind this much the end of a file is not looked for. */
const LONGEST_LOOKED_THROUGH = 16 * MEBIBYTE;
/** A longer log comes with its beginning only, and so does what follows when all of them are longer than that. */
const LARGEST_LOG = 64 * MEBIBYTE;
const LARGEST_LOGS = 2048 * MEBIBYTE;

/** The end of each file, by path; a file that is not there, or empty, is left out. */
export async function endsOfFiles(
  files: FileReader,
  folder: string,
  paths: readonly string[],
  longest: number,
): Promise<Map<string, string>> {
  const ends = new Map<string, Buffer>();
  const wanted = paths.map((path): WantedFile => {
    let read = 0;
    return {
      path,
      from: 0,
      take(bytes) {
        const end = Buffer.concat([ends.get(path) ?? Buffer.alloc(0), bytes.subarray(-longest)]);
        ends.set(path, Buffer.from(end.subarray(-longest)));
        read += bytes.length;
        return read < LONGEST_LOOKED_THROUGH;
      },
    };
  });
  await files.read(wanted, folder);
  return new Map([...ends].map(([path, end]) => [path, end.toString('utf8')]));
}

interface Fetched {
  from: string;
  to: string;
}

interface Limits {
  each: number;
  all: number;
}

/**
 * Brings files to this machine, one after the other. One that is too long ends with a sentence that says where the rest is.
 * A file that is not there, or empty, makes none here.
 */
export async function fetchFiles(
  reader: FileReader,
  folder: string,
  files: readonly Fetched[],
  { each, all }: Limits = { each: LARGEST_LOG, all: LARGEST_LOGS },
): Promise<void> {
  for (const parent of new Set(files.map(({ to }) => dirname(to)))) await mkdir(parent, { recursive: true });
  let left = all;
  const drafts = new Map<string, Awaited<ReturnType<typeof open>>>();
  const close = async () => {
    for (const [to, draft] of drafts) {
      await draft.close();
      drafts.delete(to);
    }
  };
  const wanted = files.map(({ from, to }): WantedFile => {
    let room = each;
    return {
      path: from,
      from: 0,
      async take(bytes) {
        let draft = drafts.get(to);
        if (!draft) {
          await close();
          drafts.set(to, (draft = await open(`${to}.part`, 'w')));
        }
        const fits = bytes.subarray(0, Math.min(room, left));
        [room, left] = [room - fits.length, left - fits.length];
        await draft.writeFile(fits);
        if (fits.length === bytes.length) return true;
        await draft.writeFile(`\n[The log is too long to be kept here. The rest of it is at ${from}]\n`);
        return false;
      },
    };
  });
  try {
    await reader.read(wanted, folder);
  } catch (error) {
    await close();
    for (const { to } of files) await rm(`${to}.part`, { force: true });
    throw error;
  }
  await close();
  for (const { to } of files) await rename(`${to}.part`, to).catch(() => undefined);
}
