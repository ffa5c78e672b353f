/**
 * Reads files of a person on a cluster with few commands: many files one after the other, each behind a separator, so that
 * they can be told apart again.
 *
 * The files are written by tasks, which may put anything there: gigabytes, holes, pipes that never answer, links. So bytes
 * are handed on as they come, whoever takes them says when it is enough, and a file that is silent for long is left alone.
 * The separator is made anew for each command, so that no file can hold it.
 */
import { randomBytes } from 'node:crypto';
import { chmod, lstat, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ServiceError } from '@service/contract/errors';

import { guarded } from '../guard.ts';
import type { Command, Commands } from '../hosts/index.ts';

/** The words of one command; systems take two megabytes, sudo and its log less, SSH 128 kB with its own words. */
const LONGEST_COMMAND = 100_000;
const LONGEST_FETCH_MS = 3_600_000;
const LONGEST_SILENCE_MS = 60_000;

export interface WantedFile {
  path: string;
  /** Bytes that are known already: those behind them are read. */
  from: number;
  /** Gets the bytes in order. False when it wants no more of this file. */
  take(bytes: Buffer): Promise<boolean> | boolean;
}

/** How files of a person are read. A file that is not there has no bytes. */
export interface FileReader {
  /** `folder` is one of this machine that the person can read, for what the reading needs. */
  read(files: readonly WantedFile[], folder?: string): Promise<void>;
}

const newSeparator = () => `\n=====${randomBytes(24).toString('hex')}=====\n`;

/** Takes a stream apart at the separators: `onPart` gets the bytes of the file with this index. */
export function splitter(separator: Buffer, onPart: (index: number, bytes: Buffer) => Promise<void>) {
  let index = -1;
  let rest = Buffer.alloc(0);
  const part = async (bytes: Buffer) => {
    if (bytes.length > 0 && index >= 0) await onPart(index, bytes);
  };

  /** Only where two pieces meet are they put together: copies of all would be much to collect. */
  async function behindSeam(chunk: Buffer): Promise<Buffer> {
    const seam = Buffer.concat([rest, chunk.subarray(0, separator.length - 1)]);
    const at = rest.length === 0 ? -1 : seam.indexOf(separator);
    if (at < 0 && chunk.length < separator.length) return seam;
    const before = rest;
    rest = Buffer.alloc(0);
    await part(at < 0 ? before : before.subarray(0, at));
    if (at < 0) return chunk;
    index += 1;
    return chunk.subarray(at + separator.length - before.length);
  }

  return {
    /** Of the file that is read now; -1 before the first. */
    index: () => index,
    async write(chunk: Buffer): Promise<void> {
      let data = await behindSeam(chunk);
      for (let at = data.indexOf(separator); at >= 0; at = data.indexOf(separator)) {
        await part(data.subarray(0, at));
        index += 1;
        data = data.subarray(at + separator.length);
      }
      // the beginning of a separator may be at the end
      const keep = Math.min(data.length, separator.length - 1);
      rest = Buffer.from(data.subarray(data.length - keep));
      await part(data.subarray(0, data.length - keep));
    },
    async end(): Promise<void> {
      const last = rest;
      rest = Buffer.alloc(0);
      await part(last);
    },
  };
}

/** Ends the command: there was enough of the file with this index. */
class EnoughRead extends ServiceError {
  readonly kind = 'enough-read';
  readonly index: number;

  constructor(index: number) {
    super('Enough of the file was read');
    this.index = index;
  }
}

/** Nothing came of a file for long: the file system hangs, or it is a pipe. */
export class SilentFile extends ServiceError {
  readonly kind = 'silent-file';
  readonly path: string;

  constructor(path: string) {
    super(`${path} could not be read: nothing came of it for a while.`);
    this.path = path;
  }
}

/** What one command reads, and how it is told apart. */
interface Reading {
  command: Command;
  separator: string;
  /** Whether the command itself leaves out what is known. */
  skips: boolean;
  /** Removes what the command needed. */
  close(): Promise<void>;
}

type Prepare = (files: readonly WantedFile[], folder: string) => Promise<Reading>;

function* pieces(files: readonly WantedFile[], folder: string): Generator<WantedFile[]> {
  let [piece, length] = [[] as WantedFile[], 0];
  for (const file of files) {
    // beside the path, the command has that of the separator or a number for each file
    const more = file.path.length + folder.length + 40;
    if (piece.length > 0 && length + more > LONGEST_COMMAND) {
      yield piece;
      [piece, length] = [[], 0];
    }
    piece.push(file);
    length += more;
  }
  if (piece.length > 0) yield piece;
}

/**
 * Reads files with one command, up to the end or up to the first one of which there was enough: gives the number of files
 * that are done.
 */
async function readSome(commands: Commands, files: readonly WantedFile[], reading: Reading, silenceMs: number) {
  const skipped = files.map(({ from }) => (reading.skips ? 0 : from));
  const parts = splitter(Buffer.from(reading.separator), async (index, bytes) => {
    const file = files[index];
    if (!file) throw new Error('More files came than were asked for.');
    const known = Math.min(skipped[index]!, bytes.length);
    skipped[index]! -= known;
    const more = known === bytes.length || (await file.take(bytes.subarray(known)));
    if (!more) throw new EnoughRead(index);
  });
  const silence = new AbortController();
  const giveUp = () => silence.abort();
  let timer = setTimeout(guarded(giveUp, giveUp), silenceMs);
  try {
    await commands.run(reading.command, {
      async onBytes(chunk) {
        clearTimeout(timer);
        await parts.write(chunk);
        timer = setTimeout(guarded(giveUp, giveUp), silenceMs);
      },
      signal: silence.signal,
      timeoutMs: LONGEST_FETCH_MS,
    });
  } catch (error) {
    if (error instanceof EnoughRead) return error.index + 1;
    if (!silence.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  if (silence.signal.aborted) {
    throw new SilentFile(files[Math.max(0, parts.index())]!.path);
  }
  await parts.end().catch((error: unknown) => {
    if (!(error instanceof EnoughRead)) throw error;
  });
  return files.length;
}

function reader(commands: Commands, prepare: Prepare, silenceMs: number): FileReader {
  return {
    async read(wanted, folder = tmpdir()) {
      for (const piece of pieces(wanted, folder)) {
        for (let files = piece; files.length > 0;) {
          const reading = await prepare(files, folder);
          try {
            files = files.slice(await readSome(commands, files, reading, silenceMs));
          } finally {
            await reading.close();
          }
        }
      }
    },
  };
}

/** Where the service may look by itself, it does not begin to read what is no file: a pipe would never end. */
async function isOdd(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => !found.isFile(),
    () => false,
  );
}

/**
 * Where a site lets the service run nothing else than mkdir, sbatch, scancel and cat for a person: one `cat`.
 *
 *     cat separator a.jsonl separator b.jsonl
 */
export const catReader = (commands: Commands, { silenceMs = LONGEST_SILENCE_MS } = {}): FileReader =>
  reader(
    commands,
    async (files, folder) => {
      const separator = newSeparator();
      const path = join(folder, `separator-${randomBytes(12).toString('hex')}`);
      await writeFile(path, separator, { flag: 'wx' });
      await chmod(path, 0o644);
      const words: string[] = [];
      for (const file of files) words.push(path, (await isOdd(file.path)) ? '/dev/null' : file.path);
      return { command: ['cat', '--', ...words], separator, skips: false, close: () => rm(path, { force: true }) };
    },
    silenceMs,
  );

/** Prints the separator `$1` and a file from a byte on, for each pair that follows. */
const PRINT = [
  'separator=$1',
  'shift',
  'while test $# -gt 1; do printf "%s" "$separator"; test -f "$2" && tail -c "+$1" -- "$2"; shift 2; done',
  'exit 0',
].join('; ');

/** Where the account may run anything. */
export const shellReader = (commands: Commands, { silenceMs = LONGEST_SILENCE_MS } = {}): FileReader =>
  reader(
    commands,
    async (files) => {
      const separator = newSeparator();
      const words = files.flatMap(({ from, path }) => [String(from + 1), path]);
      const command = ['/bin/sh', '-c', PRINT, 'print', separator, ...words] as const;
      return { command, separator, skips: true, close: () => Promise.resolve() };
    },
    silenceMs,
  );
