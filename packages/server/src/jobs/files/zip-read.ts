/** Reads the directory and the members of a zip, whoever made it, without taking it into memory. */
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';

import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader } from 'yauzl';

import { bytesBetween, unlessGone } from '../../hosts/index.ts';

const BLOCK = 64 * 1024;

export interface ZipMember {
  name: string;
  size: number;
  modified: Date;
  mode: number;
  content(): Promise<AsyncIterable<Buffer>>;
}

export interface OpenZip {
  bytes: number;
  members: AsyncIterable<ZipMember>;
  close(): void;
}

/**
 * A file read in blocks. yauzl asks for each record of the directory twice; that many reads of the file take seconds when
 * the zip has seventy thousand members.
 */
class Blocks extends RandomAccessReader {
  readonly #file: FileHandle;
  #block: Buffer = Buffer.alloc(0);
  #begin = 0;

  constructor(file: FileHandle) {
    super();
    this.#file = file;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(bytesBetween(this.#file, start, end), { objectMode: false });
  }

  override read(
    target: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    this.#copy(target, offset, length, position).then(() => callback(null), callback);
  }

  async #copy(target: Buffer, offset: number, length: number, position: number): Promise<void> {
    for (let copied = 0; copied < length;) {
      const from = position + copied - this.#begin;
      if (from < 0 || from >= this.#block.length) {
        await this.#load(position + copied);
        continue;
      }
      copied += this.#block.copy(target, offset + copied, from, from + length - copied);
    }
  }

  async #load(position: number): Promise<void> {
    const { bytesRead, buffer } = await this.#file.read(Buffer.allocUnsafe(BLOCK), 0, BLOCK, position);
    if (bytesRead === 0) throw new Error('The zip file ends too early');
    this.#block = buffer.subarray(0, bytesRead);
    this.#begin = position;
  }

  override close(callback: (error: Error | null) => void): void {
    this.#file.close().then(() => callback(null), callback);
  }
}

/** Undefined when there is no such file; an error when it is not a zip. */
export async function openZip(path: string): Promise<OpenZip | undefined> {
  const file = await unlessGone(open(path));
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    // names are taken as bytes: the check of decoded names refuses a whole zip for a backslash in one of them
    const options = { autoClose: false, decodeStrings: false };
    const zip = await fromRandomAccessReaderPromise(new Blocks(file), size, options);
    async function* members(): AsyncGenerator<ZipMember> {
      for await (const entry of zip.eachEntry()) {
        yield memberOf(entry, () => zip.openReadStreamPromise(entry));
      }
    }
    return { bytes: size, members: members(), close: () => zip.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

const memberOf = (entry: Entry, content: ZipMember['content']): ZipMember => ({
  name: entry.fileNameRaw.toString('utf8'),
  size: entry.uncompressedSize,
  modified: entry.getLastModDate(),
  // some writers leave the mode out
  mode: (entry.externalFileAttributes >>> 16) & 0o777 || 0o644,
  content,
});
