/**
 * The worker as the one file that travels: a zip of the Python package in `worker/`, which `python3 -I -S worker.pyz` runs.
 *
 * The bytes depend on the sources alone: no times, no order of a file system, and no compression, which differs from one
 * version of a library to the next (and which a Python may lack).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

/** How the file is called wherever it goes. */
export const WORKER_FILE = 'worker.pyz';

const PACKAGE = 'worker';
const SOURCES = join(import.meta.dirname, PACKAGE);
/** Of these, what Python runs first. */
const MAIN = 'zip_main.py';
const SHEBANG = '#!/usr/bin/env python3\n';

const [FILE_MARK, DIRECTORY_MARK, END_MARK] = [0x04034b50, 0x02014b50, 0x06054b50];
const VERSION = 20;
const MADE_BY_UNIX = 3 << 8;
const READABLE_FILE = 0o100644 * 0x1_0000;
/** Midnight of the first of January 1980, with which the times of zips begin. */
const [NO_TIME, NO_DATE] = [0, 0x21];
const [NO_FLAGS, STORED, NOTHING_EXTRA, NO_COMMENT, FIRST_DISK, NO_ATTRIBUTES] = [0, 0, 0, 0, 0, 0];

interface Member {
  /** ASCII. */
  name: string;
  content: Buffer;
}

function numbers(bytes: 2 | 4, values: number[]): Buffer {
  const buffer = Buffer.alloc(bytes * values.length);
  for (const [index, value] of values.entries()) buffer.writeUIntLE(value, bytes * index, bytes);
  return buffer;
}
const u16 = (...values: number[]) => numbers(2, values);
const u32 = (...values: number[]) => numbers(4, values);

/** A zip (APPNOTE 6.3) of members as they are, behind a line that says what runs it. */
function runnableZip(members: Member[]): Buffer {
  const files: Buffer[] = [Buffer.from(SHEBANG)];
  const directory: Buffer[] = [];
  let offset = SHEBANG.length;
  for (const { name, content } of members) {
    const about = Buffer.concat([
      u16(VERSION, NO_FLAGS, STORED, NO_TIME, NO_DATE),
      u32(crc32(content), content.length, content.length),
      u16(name.length, NOTHING_EXTRA),
    ]);
    const file = Buffer.concat([u32(FILE_MARK), about, Buffer.from(name), content]);
    files.push(file);
    const place = [u16(NO_COMMENT, FIRST_DISK, NO_ATTRIBUTES), u32(READABLE_FILE, offset)];
    directory.push(u32(DIRECTORY_MARK), u16(MADE_BY_UNIX | VERSION), about, ...place, Buffer.from(name));
    offset += file.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const counts = u16(FIRST_DISK, FIRST_DISK, members.length, members.length);
  const end = [u32(END_MARK), counts, u32(size, offset), u16(NO_COMMENT)];
  return Buffer.concat([...files, ...directory, ...end]);
}

let built: Buffer | undefined;

/** Built once in a process, so that all workers of it are of one version, also while somebody changes the sources. */
export function workerArchive(): Buffer {
  if (built) return built;
  const names = readdirSync(SOURCES).filter((name) => name.endsWith('.py'));
  const members = names.toSorted().map((name) => ({
    name: name === MAIN ? '__main__.py' : `${PACKAGE}/${name}`,
    content: readFileSync(join(SOURCES, name)),
  }));
  return (built = runnableZip(members));
}
