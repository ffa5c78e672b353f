/** The text of logs: from the folder of a job, or else from its zip. */
import { isAbsolute, relative, resolve, sep } from 'node:path';

import { bytesBetween, collect, type OpenFile, openerInside } from '../../hosts/index.ts';
import { openZip } from './zip-read.ts';

/** Of a log that is longer than both together only its beginning and its end are read. */
export const LOG_HEAD_BYTES = 1024 * 1024;
export const LOG_TAIL_BYTES = 4 * 1024 * 1024;

/** At most this much new text is given at a time; the next call goes on there. */
export const LOG_STEP_BYTES = 1024 * 1024;

export interface JobFolder {
  working_dir: string | null;
}

/** The folder of a job; null without one. An imported job may name what is no folder of a job: it is not opened. */
export const folderOf = ({ working_dir }: JobFolder): string | null =>
  working_dir !== null && isAbsolute(working_dir) && resolve(working_dir) !== sep ? working_dir : null;

/** Where a log of a job is: the folder, and the path in it. Undefined: not in the folder. */
function locationOf(job: JobFolder, logfile: string): { folder: string; name: string } | undefined {
  const path = folderOf(job);
  if (path === null) return undefined;
  const folder = resolve(path);
  const name = relative(folder, resolve(folder, logfile));
  if (name === '' || name === '..' || name.startsWith(`..${sep}`) || isAbsolute(name)) return undefined;
  return { folder, name };
}

/** The log in the folder of the job, where no link leads out of it; to be closed. */
export async function openLog(job: JobFolder, logfile: string): Promise<OpenFile | undefined> {
  const location = locationOf(job, logfile);
  return location && (await openerInside(location.folder))(location.name);
}

/** Hands the log to `ofFile` or, when the folder does not have it, its bytes in the zip to `ofZip`. */
async function withLog<T>(
  job: JobFolder,
  logfile: string,
  ofFile: (file: OpenFile) => Promise<T>,
  ofZip: (content: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T | undefined> {
  const location = locationOf(job, logfile);
  if (!location) return undefined;
  const file = await openLog(job, logfile);
  if (file) {
    try {
      return await ofFile(file);
    } finally {
      await file.handle.close();
    }
  }

  const zip = await openZip(`${location.folder}.zip`);
  if (!zip) return undefined;
  try {
    for await (const member of zip.members) {
      if (member.name === location.name) return await ofZip(await member.content());
    }
    return undefined;
  } finally {
    zip.close();
  }
}

/**
 * The text of a log; undefined when it is neither in the folder nor in the zip of the job. Bytes that are not UTF-8 become
 * replacement characters. What is there but cannot be read is an error.
 */
export async function readLog(job: JobFolder, logfile: string): Promise<string | undefined> {
  const ends = await withLog(job, logfile, endsOfFile, endsOfStream);
  return ends && textOf(ends);
}

/** The text of a log that is not a file here. */
export const logOf = async (content: AsyncIterable<Buffer>): Promise<string> => textOf(await endsOfStream(content));

interface Ends {
  head: Buffer;
  tail: Buffer;
  size: number;
}

async function endsOfFile({ handle, size }: OpenFile): Promise<Ends> {
  const head = await collect(bytesBetween(handle, 0, Math.min(size, LOG_HEAD_BYTES)));
  const tail = await collect(bytesBetween(handle, Math.max(head.length, size - LOG_TAIL_BYTES), size));
  return { head, tail, size };
}

async function endsOfStream(content: AsyncIterable<Buffer>): Promise<Ends> {
  const head: Buffer[] = [];
  const tail: Buffer[] = [];
  let size = 0;
  let inTail = 0;
  for await (const chunk of content) {
    const forHead = Math.max(0, Math.min(chunk.length, LOG_HEAD_BYTES - size));
    size += chunk.length;
    if (forHead > 0) head.push(chunk.subarray(0, forHead));
    if (forHead === chunk.length) continue;
    tail.push(chunk.subarray(forHead));
    inTail += chunk.length - forHead;
    while (inTail - tail[0]!.length >= LOG_TAIL_BYTES) inTail -= tail.shift()!.length;
  }
  const kept = Buffer.concat(tail);
  return { head: Buffer.concat(head), tail: kept.subarray(Math.max(0, kept.length - LOG_TAIL_BYTES)), size };
}

function textOf({ head, tail, size }: Ends): string {
  if (head.length + tail.length >= size) return Buffer.concat([head, tail]).toString('utf8');
  const first = head.subarray(0, wholeCharacters(head));
  const last = tail.subarray(characterStart(tail));
  const leftOut = size - first.length - last.length;
  return `${first.toString('utf8')}\n[${leftOut} bytes are left out here. Download the job to read the whole log.]\n${last.toString('utf8')}`;
}

/** How many bytes are left when a character that lacks its last bytes is put aside. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte >= 0x80 && byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Where the first whole character begins. */
function characterStart(bytes: Buffer): number {
  const start = bytes.subarray(0, 4).findIndex((byte) => byte < 0x80 || byte >= 0xc0);
  return start === -1 ? 0 : start;
}

/**
 * What was added to `workflow.log` since `offset` bytes, without the beginning of a character that is not complete yet, and
 * the offset to ask for next. At most `LOG_STEP_BYTES` at a time.
 */
export async function workflowLogFrom(job: JobFolder, offset: number): Promise<{ offset: number; text: string }> {
  const start = Math.max(0, Math.trunc(offset) || 0);
  const end = start + LOG_STEP_BYTES;
  const added = await withLog(
    job,
    'workflow.log',
    ({ handle, size }) => collect(bytesBetween(handle, start, Math.min(size, end))),
    (content) => collect(rangeOf(content, start, end)),
  );
  if (!added) return { offset: start, text: '' };
  const whole = wholeCharacters(added);
  return { offset: start + whole, text: added.toString('utf8', 0, whole) };
}

async function* rangeOf(content: AsyncIterable<Buffer>, start: number, end: number): AsyncGenerator<Buffer> {
  let position = 0;
  for await (const chunk of content) {
    const from = Math.max(0, start - position);
    if (from < chunk.length) yield chunk.subarray(from, end - position);
    position += chunk.length;
    if (position >= end) return;
  }
}
