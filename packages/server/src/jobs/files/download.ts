/** The files of a job as one zip. */
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';

import { entityTag, Streamed } from '../../http/index.ts';
import { zipPath } from './archive.ts';
import { folderMembers } from './folder.ts';
import type { JobPlace } from './logs.ts';
import { unlessGone } from '../../hosts/index.ts';
import { zipOf } from './zip-write.ts';

/** The size of the zip of a job; null when there is none. */
export async function archiveBytes({ working_dir }: JobPlace): Promise<number | null> {
  if (working_dir === null) return null;
  return (await unlessGone(stat(zipPath(working_dir))))?.size ?? null;
}

/**
 * The zip of a job, or else its folder zipped while it is sent, or else a zip without members. What cannot be read is left
 * out: a download that began has no other way to tell of a failure than to break off.
 */
export async function download({ working_dir }: JobPlace): Promise<Streamed> {
  const headers = {
    'content-type': 'application/x-zip-compressed',
    'content-disposition': `attachment;filename=${basename(working_dir ?? 'job')}_archive.zip`,
  };
  const made = working_dir === null ? undefined : await unlessGone(open(zipPath(working_dir)));
  if (made) {
    const { size, mtimeNs, ino } = await made.stat({ bigint: true });
    const tag = entityTag(String(ino), String(size), String(mtimeNs));
    return new Streamed(made.createReadStream(), { ...headers, 'content-length': String(size) }, { tag });
  }
  const blocks = zipOf(working_dir === null ? [] : folderMembers(working_dir, 'skip'));
  return new Streamed(Readable.from(blocks, { objectMode: false }), headers);
}
