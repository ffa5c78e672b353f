/**
 * Files of the far side, by commands that every Linux has: no second protocol, and one session for each.
 *
 * A file is written beside its place and moved there when it is whole. A broken connection looks to the far side like
 * the end of the file, so it counts the bytes first.
 */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';

import { capture } from '../capture.ts';
import type { Command, Commands, Host, RunOptions } from '../host.ts';

type Files = Pick<Host, 'kindOf' | 'readText' | 'writeText' | 'bring' | 'makeFolder' | 'rename' | 'remove'>;

const WRITE = [
  // nobody may be there any more to read the message
  'trap "" PIPE',
  'whole() { test "$(wc -c <"$1")" -eq "$2" || { echo "the end is missing" >&2; return 1; }; }',
  'cat >"$1" && whole "$1" "$3" && { test -z "$4" || chmod "$4" "$1"; } && mv -fT -- "$1" "$2" && exit 0',
  'rm -f -- "$1"',
  'exit 1',
].join('; ');

/** Messages of the programs are read here, so they have to be in one language. */
const PLAIN = { env: { LC_ALL: 'C' } };
/** A pipe in the place of a file would be waited for without end. */
const LONGEST_LOOK_MS = 120_000;
const NOTHING_THERE = /No such file or directory|Not a directory/;

/** Opens the file when the first byte is asked for, so that nothing stays open when that never happens. */
async function* contentOf(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path) as AsyncIterable<Buffer>;
}

export function createFiles(commands: Commands, name: string): Files {
  async function done(what: string, command: Command, options: RunOptions = {}): Promise<Buffer> {
    const { code, signal, stdout, stderr } = await capture(commands, command, { ...PLAIN, ...options });
    if (code === 0) return stdout;
    throw new Error(`${what} as ${name}: ${stderr.trim() || `${command[0]} ended with ${signal ?? `code ${code}`}`}`);
  }

  const write = async (path: string, input: RunOptions['input'], size: number, mode?: number) => {
    const draft = `${path}.${randomUUID().slice(0, 8)}.part`;
    const words = [draft, path, String(size), mode === undefined ? '' : mode.toString(8)];
    await done(`${path} cannot be written`, ['/bin/sh', '-c', WRITE, 'write', ...words], { input });
  };

  return {
    async kindOf(path) {
      const { code, stdout, stderr } = await capture(commands, ['stat', '-L', '-c', '%F', '--', path], {
        ...PLAIN,
        timeoutMs: LONGEST_LOOK_MS,
      });
      if (code === 0) return stdout.toString().trim() === 'directory' ? 'folder' : 'file';
      if (NOTHING_THERE.test(stderr)) return undefined;
      throw new Error(`${path} cannot be looked at as ${name}: ${stderr.trim()}`);
    },
    async readText(path) {
      const content = await done(`${path} cannot be read`, ['cat', '--', path], { timeoutMs: LONGEST_LOOK_MS });
      return content.toString('utf8');
    },
    writeText: (path, text, mode) => write(path, text, Buffer.byteLength(text), mode),
    async bring(localPath, path) {
      const { size } = await stat(localPath);
      await write(path, contentOf(localPath), size);
    },
    makeFolder: async (path) => void (await done(`${path} cannot be made`, ['mkdir', '-p', '--', path])),
    rename: async (from, to) => void (await done(`${from} cannot be moved`, ['mv', '-fT', '--', from, to])),
    remove: async (path) => void (await done(`${path} cannot be removed`, ['rm', '-rf', '--', path])),
  };
}
