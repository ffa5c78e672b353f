/**
 * Brings files from a cluster with few commands: one `cat` of many files, each behind a file with a line that nothing else
 * holds, so that they can be told apart again.
 *
 *     cat separator a.jsonl separator b.jsonl
 *
 * Where a site lets the service run nothing else than mkdir, sbatch, scancel and cat for a user, this is enough.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { Commands } from '../../hosts/index.ts';

/** The words of one command; systems take two megabytes, sudo and its log less. */
const LONGEST_COMMAND = 100_000;
const LONGEST_FETCH_MS = 3_600_000;

export const SEPARATOR_FILE = 'separator';
export const newSeparator = () => `\n=====${randomBytes(24).toString('hex')}=====\n`;

export interface Separator {
  /** Where the file with it lies, for the account that reads. */
  path: string;
  text: string;
}

/** Takes a stream apart at the separators; `onPiece(index)` gives who takes the bytes of the file with this index. */
export function splitter(separator: Buffer, onPart: (index: number, bytes: Buffer) => void) {
  let index = -1;
  let rest = Buffer.alloc(0);
  return {
    write(chunk: Buffer) {
      let data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (;;) {
        const at = data.indexOf(separator);
        if (at < 0) break;
        if (at > 0 && index >= 0) onPart(index, data.subarray(0, at));
        index += 1;
        data = data.subarray(at + separator.length);
      }
      // the beginning of a separator may be at the end
      const keep = Math.min(data.length, separator.length - 1);
      if (data.length > keep && index >= 0) onPart(index, data.subarray(0, data.length - keep));
      rest = Buffer.from(data.subarray(data.length - keep));
    },
    end() {
      if (rest.length > 0 && index >= 0) onPart(index, rest);
      rest = Buffer.alloc(0);
    },
  };
}

function* commandsFor(paths: readonly string[], separator: string): Generator<{ from: number; paths: string[] }> {
  let [from, piece, length] = [0, [] as string[], 0];
  for (const [index, path] of paths.entries()) {
    const more = path.length + separator.length + 2;
    if (piece.length > 0 && length + more > LONGEST_COMMAND) {
      yield { from, paths: piece };
      [from, piece, length] = [index, [], 0];
    }
    piece.push(path);
    length += more;
  }
  if (piece.length > 0) yield { from, paths: piece };
}

/** Reads files; `onPart` gets their bytes in order. A file that is not there has none. */
async function read(
  commands: Commands,
  separator: Separator,
  paths: readonly string[],
  onPart: (index: number, bytes: Buffer) => void,
): Promise<void> {
  const mark = Buffer.from(separator.text);
  for (const { from, paths: piece } of commandsFor(paths, separator.path)) {
    const parts = splitter(mark, (index, bytes) => onPart(from + index, bytes));
    const words = piece.flatMap((path) => [separator.path, path]);
    await commands.run(['cat', '--', ...words], {
      onBytes: (chunk) => parts.write(chunk),
      timeoutMs: LONGEST_FETCH_MS,
    });
    parts.end();
  }
}

/** The contents of files, by path; a file that is not there, or empty, is left out. */
export async function fetchContents(
  commands: Commands,
  separator: Separator,
  paths: readonly string[],
): Promise<Map<string, Buffer>> {
  const parts: Buffer[][] = [];
  await read(commands, separator, paths, (index, bytes) => void (parts[index] ??= []).push(Buffer.from(bytes)));
  return new Map(paths.flatMap((path, index) => (parts[index] ? [[path, Buffer.concat(parts[index])] as const] : [])));
}

/** Brings files to this machine, however large. A file that is not there, or empty, makes none here. */
export async function fetchFiles(
  commands: Commands,
  separator: Separator,
  files: readonly { from: string; to: string }[],
): Promise<void> {
  for (const folder of new Set(files.map(({ to }) => dirname(to)))) await mkdir(folder, { recursive: true });
  const drafts = new Map<number, number>();
  const paths = files.map(({ from }) => from);
  try {
    await read(commands, separator, paths, (index, bytes) => {
      if (!drafts.has(index)) {
        for (const descriptor of drafts.values()) closeSync(descriptor);
        drafts.clear();
        drafts.set(index, openSync(`${files[index]!.to}.part`, 'w'));
      }
      // at once, so that a log of gigabytes does not pile up here
      writeSync(drafts.get(index)!, bytes);
    });
  } finally {
    for (const descriptor of drafts.values()) closeSync(descriptor);
  }
  for (const { to } of files) await rename(`${to}.part`, to).catch(() => undefined);
}
