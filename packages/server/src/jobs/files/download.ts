/** The files of a job as one zip. */
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';

import { entityTag, Streamed } from '../../http/index.ts';
import { zipPath } from './archive.ts';
import { folderMembers } from './folder.ts';
import { folderOf, type JobFolder } from './logs.ts';
import { unlessGone } from '../../hosts/index.ts';
import { zipOf } from './zip-write.ts';

/** The size of the zip of a job; null when there is none. */
export async function archiveBytes(job: JobFolder): Promise<number | null> {
  const folder = folderOf(job);
  if (folder === null) return null;
  return (await unlessGone(stat(zipPath(folder))))?.size ?? null;
}

/** The name of the folder, which another system may have chosen, as a header can say it. */
const nameOf = (folder: string) => basename(folder).replace(/[^\w.-]/g, '_');

/**
 * The zip of a job, or else its folder zipped while it is sent, or else a zip without members. What cannot be read is left
 * out: a download that began has no other way to tell of a failure than to break off.
 */
export async function download(job: JobFolder): Promise<Streamed> {
  const folder = folderOf(job);
  const headers = {
    'content-type': 'application/x-zip-compressed',
    'content-disposition': `attachment;filename=${nameOf(folder ?? 'job')}_archive.zip`,
  };
  const made = folder === null ? undefined : await unlessGone(open(zipPath(folder)));
  if (made) {
    const { size, mtimeNs, ino } = await made.stat({ bigint: true });
    const tag = entityTag(String(ino), String(size), String(mtimeNs));
    return new Streamed(made.createReadStream(), { ...headers, 'content-length': String(size) }, { tag });
  }
  const blocks = zipOf(folder === null ? [] : folderMembers(folder, 'skip'));
  return new Streamed(Readable.from(blocks, { objectMode: false }), headers);
}
