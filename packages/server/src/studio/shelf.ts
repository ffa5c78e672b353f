/**
 * Where what was made is kept, as files: the content, and behind it the sources it was made from, facts, and how long these
 * are. So content can be written while it is made. The folder has a largest size; what was not used for longest goes first.
 */
import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { areUnchanged, type Sources } from '../zarr/sources.ts';
import { unreadable } from '../zarr/unreadable.ts';
import type { Kept, Made } from './order.ts';

const LONGEST_FOOTER = 64 * 2 ** 20;
/** How often a use is written down. */
const USED_AGAIN_MS = 60_000;
/** Room is made for some more than is needed at once. */
const KEPT_SHARE = 0.9;
const LOOK_AGAIN_MS = 600_000;
/** One thing takes no more than this part of the room. */
const LARGEST_SHARE = 2;
const ASK_LESS = 'Ask for less, or ask an administrator for more room on disk.';

interface Footer {
  files: [path: string, stamp: string][];
  folders: string[];
  etag: string;
  facts: Record<string, string>;
  length: number;
}

export interface Shelf {
  /** What is kept under a key, if its sources are as they were. */
  find(key: string, signal: AbortSignal): Promise<Kept | undefined>;
  put(key: string, made: Made, sources: Sources, signal: AbortSignal): Promise<Kept>;
}

const isGone = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

export function openShelf(folder: string, largest: number): Shelf {
  const fileOf = (key: string) => join(folder, key.slice(0, 2), key);
  let size: number | undefined;
  let looked = 0;

  async function readFooter(file: string): Promise<Footer | undefined> {
    const handle = await open(file).catch((error: unknown) => {
      if (isGone(error)) return undefined;
      throw error;
    });
    if (!handle) return undefined;
    try {
      const { size: all, mtimeMs } = await handle.stat();
      const suffix = Buffer.alloc(4);
      await handle.read(suffix, 0, 4, Math.max(0, all - 4));
      const length = suffix.readUInt32BE(0);
      if (length > Math.min(LONGEST_FOOTER, all - 4)) return undefined;
      const text = Buffer.alloc(length);
      await handle.read(text, 0, length, all - 4 - length);
      const footer = JSON.parse(text.toString()) as Footer;
      if (all !== footer.length + length + 4) return undefined;
      if (Date.now() - mtimeMs > USED_AGAIN_MS) await utimes(file, new Date(), new Date());
      return footer;
    } catch (error) {
      // half a file, after a crash of the machine
      if (error instanceof SyntaxError) return undefined;
      throw error;
    } finally {
      await handle.close();
    }
  }

  async function listed(): Promise<{ file: string; bytes: number; used: number }[]> {
    const names = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const found = await Promise.all(
      files.map((file) =>
        stat(file).then(
          ({ size: bytes, mtimeMs }) => [{ file, bytes, used: mtimeMs }],
          () => [],
        ),
      ),
    );
    return found.flat();
  }

  /** Other processes may use the same folder, so it is looked at again now and then. */
  async function makeRoom(bytes: number): Promise<void> {
    if (size !== undefined && size + bytes <= largest && Date.now() - looked < LOOK_AGAIN_MS) {
      size += bytes;
      return;
    }
    const all = await listed();
    looked = Date.now();
    size = all.reduce((sum, one) => sum + one.bytes, 0);
    if (size + bytes > largest) {
      for (const { file, bytes: freed } of all.sort((one, other) => one.used - other.used)) {
        if (size + bytes <= largest * KEPT_SHARE) break;
        await rm(file, { force: true });
        size -= freed;
      }
    }
    size += bytes;
  }

  /** Writes what was made, as it comes, and makes room for it. */
  async function writeContent(to: FileHandle, content: Made['content'], signal: AbortSignal) {
    const hash = createHash('sha256');
    let length = 0;
    for await (const part of content instanceof Uint8Array ? [content] : content) {
      signal.throwIfAborted();
      if (length + part.length > largest / LARGEST_SHARE) {
        throw unreadable(
          `This makes a file of more than ${Math.floor(largest / LARGEST_SHARE / 2 ** 20)} MiB. ${ASK_LESS}`,
        );
      }
      await makeRoom(part.length);
      hash.update(part);
      await to.writeFile(part);
      length += part.length;
    }
    return { hash, length };
  }

  return {
    async find(key, signal) {
      const file = fileOf(key);
      const footer = await readFooter(file);
      if (!footer || !(await areUnchanged(footer.files, signal))) return undefined;
      const { length, etag, facts, folders } = footer;
      return { file, length, etag, facts, folders };
    },
    async put(key, { content, facts }, sources, signal) {
      const file = fileOf(key);
      await mkdir(dirname(file), { recursive: true });
      const draft = `${file}.${randomBytes(4).toString('hex')}.draft`;
      const handle = await open(draft, 'wx');
      try {
        const { hash, length } = await writeContent(handle, content, signal);
        const etag = `"${hash.update(JSON.stringify(facts)).digest('hex').slice(0, 32)}"`;
        const folders = [...sources.folders];
        const footer: Footer = { files: [...sources.files], folders, etag, facts, length };
        const text = Buffer.from(JSON.stringify(footer));
        const suffix = Buffer.alloc(4);
        suffix.writeUInt32BE(text.length, 0);
        await makeRoom(text.length + 4);
        await handle.writeFile(Buffer.concat([text, suffix]));
        await handle.close();
        await rename(draft, file);
        return { file, length, etag, facts, folders };
      } catch (error) {
        await handle.close().catch(() => undefined);
        await rm(draft, { force: true });
        throw error;
      }
    },
  };
}
