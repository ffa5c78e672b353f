/**
 * Writes a zip as it is read: `for await (const block of zipOf(members)) …`.
 *
 * Our own, because a job has 65 535 files and more: the time is linear in the number of members, memory holds one small
 * member (or a piece of a large one) and the directory of the zip, and no file is read before somebody takes its bytes.
 *
 * The format: APPNOTE 6.3, UTF-8 names, DEFLATE, sizes and checksum behind the data (known only then), and the zip64 forms
 * where a number does not fit.
 */
import { pipeline } from 'node:stream/promises';
import { crc32, createDeflateRaw, deflateRawSync } from 'node:zlib';

import { collect } from '../../hosts/index.ts';

export interface Member {
  /** Path with `/`, relative. */
  name: string;
  modified: Date;
  mode: number;
  /** At most as many bytes will come. */
  size: number;
  content: AsyncIterable<Buffer>;
}

export interface ZipOptions {
  /** Uses the zip64 forms where nothing needs them. */
  zip64?: boolean;
}

const BLOCK = 64 * 1024;
/**
 * Up to this size (nearly all files of a job) a member is deflated in one go and at once: it takes a millisecond or two,
 * and a stream for each takes several times the time and the memory.
 */
const SMALL = 64 * 1024;
const RECORDS_TOGETHER = 500;
/** Data that does not compress grows a little: the room below 4 GiB is for that. */
const LARGE = 0xf000_0000;
const MAX_16 = 0xffff;
const MAX_32 = 0xffff_ffff;

const DEFLATE = 8;
/** Bit 3: sizes follow the data. Bit 11: the name is UTF-8. */
const FLAGS = 0x0808;
const VERSION = 20;
const VERSION_ZIP64 = 45;
const MADE_BY_UNIX = 3 << 8;
const REGULAR_FILE = 0o100000;

export const zipOf = (members: AsyncIterable<Member> | Iterable<Member>, options: ZipOptions = {}) =>
  inBlocks(piecesOf(members, options.zip64 ?? false));

async function* piecesOf(
  members: AsyncIterable<Member> | Iterable<Member>,
  forced: boolean,
): AsyncGenerator<Buffer, void> {
  const directory: Buffer[] = [];
  let records: Buffer[] = [];
  let count = 0;
  let offset = 0;
  for await (const member of members) {
    const name = Buffer.from(member.name);
    const wide = forced || member.size >= LARGE;
    const begin = offset;
    const totals: Totals = { checksum: 0, bytes: 0, deflatedBytes: 0 };

    const header = localHeader(member, name, wide);
    offset += header.length;
    yield header;
    for await (const piece of deflated(member, totals)) {
      offset += piece.length;
      totals.deflatedBytes += piece.length;
      yield piece;
    }
    const descriptor = dataDescriptor(totals, wide);
    offset += descriptor.length;
    yield descriptor;

    records.push(directoryRecord(member, name, totals, begin, wide || begin >= MAX_32));
    count += 1;
    // a small buffer keeps the larger one alive that it was cut from, so records are put together soon
    if (records.length < RECORDS_TOGETHER) continue;
    directory.push(Buffer.concat(records));
    records = [];
  }
  directory.push(...records);
  let directoryBytes = 0;
  for (const piece of directory) {
    directoryBytes += piece.length;
    yield piece;
  }
  yield endOfZip(count, directoryBytes, offset, forced);
}

interface Totals {
  checksum: number;
  bytes: number;
  deflatedBytes: number;
}

async function* deflated(member: Member, totals: Totals): AsyncGenerator<Buffer> {
  async function* counted() {
    for await (const chunk of member.content) {
      totals.checksum = crc32(chunk, totals.checksum);
      totals.bytes += chunk.length;
      yield chunk;
    }
  }
  if (member.size <= SMALL) {
    const data = await collect(counted());
    // a buffer that fits: the default keeps 16 KiB for every little log, which adds up to gigabytes
    yield deflateRawSync(data, { chunkSize: data.length + 64 });
    return;
  }
  const deflate = createDeflateRaw();
  const feeding = pipeline(counted, deflate);
  // a failure is heard below, as the end of `deflate`; this keeps it from being heard nowhere when the reader leaves
  feeding.catch(() => undefined);
  for await (const piece of deflate) yield piece as Buffer;
  await feeding;
}

/** Many small pieces would be as many writes, so they are handed on in blocks. */
async function* inBlocks(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    waiting.push(piece);
    bytes += piece.length;
    if (bytes < BLOCK) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

/** Little-endian numbers in a row: `[bytes, value]`. */
function record(...fields: [bytes: 2 | 4 | 8, value: number][]): Buffer {
  const buffer = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [bytes, value] of fields) {
    if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value), at);
    else buffer.writeUIntLE(value, at, bytes);
    at += bytes;
  }
  return buffer;
}

/** Date and time as DOS had them: local, from 1980 to 2107, in steps of two seconds. */
function dosTime(date: Date): { date: number; time: number } {
  const year = Math.min(Math.max(date.getFullYear(), 1980), 2107);
  return {
    date: ((year - 1980) << 9) | ((date.getMonth() + 1) << 5) | date.getDate(),
    time: (date.getHours() << 11) | (date.getMinutes() << 5) | (date.getSeconds() >> 1),
  };
}

function localHeader(member: Member, name: Buffer, wide: boolean): Buffer {
  const { date, time } = dosTime(member.modified);
  // an empty place for long sizes says that the ones behind the data are long
  const extra = wide ? record([2, 1], [2, 16], [8, 0], [8, 0]) : Buffer.alloc(0);
  const fixed = record(
    [4, 0x04034b50],
    [2, wide ? VERSION_ZIP64 : VERSION],
    [2, FLAGS],
    [2, DEFLATE],
    [2, time],
    [2, date],
    [4, 0],
    [4, wide ? MAX_32 : 0],
    [4, wide ? MAX_32 : 0],
    [2, name.length],
    [2, extra.length],
  );
  return Buffer.concat([fixed, name, extra]);
}

function dataDescriptor({ checksum, bytes, deflatedBytes }: Totals, wide: boolean): Buffer {
  const width = wide ? 8 : 4;
  return record([4, 0x08074b50], [4, checksum], [width, deflatedBytes], [width, bytes]);
}

function directoryRecord(member: Member, name: Buffer, totals: Totals, begin: number, wide: boolean): Buffer {
  const { date, time } = dosTime(member.modified);
  const extra = wide
    ? record([2, 1], [2, 24], [8, totals.bytes], [8, totals.deflatedBytes], [8, begin])
    : Buffer.alloc(0);
  const fixed = record(
    [4, 0x02014b50],
    [2, MADE_BY_UNIX | VERSION_ZIP64],
    [2, wide ? VERSION_ZIP64 : VERSION],
    [2, FLAGS],
    [2, DEFLATE],
    [2, time],
    [2, date],
    [4, totals.checksum],
    [4, wide ? MAX_32 : totals.deflatedBytes],
    [4, wide ? MAX_32 : totals.bytes],
    [2, name.length],
    [2, extra.length],
    [2, 0],
    [2, 0],
    [2, 0],
    [4, (REGULAR_FILE | (member.mode & 0o777)) * 0x1_0000],
    [4, wide ? MAX_32 : begin],
  );
  return Buffer.concat([fixed, name, extra]);
}

function endOfZip(members: number, directoryBytes: number, offset: number, forced: boolean): Buffer {
  const end = record(
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, Math.min(members, MAX_16)],
    [2, Math.min(members, MAX_16)],
    [4, Math.min(directoryBytes, MAX_32)],
    [4, Math.min(offset, MAX_32)],
    [2, 0],
  );
  if (!forced && members < MAX_16 && directoryBytes < MAX_32 && offset < MAX_32) return end;
  const wideEnd = record(
    [4, 0x06064b50],
    [8, 44],
    [2, MADE_BY_UNIX | VERSION_ZIP64],
    [2, VERSION_ZIP64],
    [4, 0],
    [4, 0],
    [8, members],
    [8, members],
    [8, directoryBytes],
    [8, offset],
  );
  const locator = record([4, 0x07064b50], [4, 0], [8, offset + directoryBytes], [4, 1]);
  return Buffer.concat([wideEnd, locator, end]);
}
