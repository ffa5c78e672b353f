/**
 * A folder of this machine, brought to the far side as one stream, whatever its files are called.
 *
 * It appears in its place when it is whole: what is unpacked so far lies beside it. The move is a command of its own,
 * since to tar the break of a connection between two files looks like the end of the stream.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';

import { ignored } from '../../guard.ts';
import { capture } from '../capture.ts';
import { handOn } from '../output.ts';
import type { Commands } from '../host.ts';

const IF_FREE = 'if test -e "$2"; then echo "$2 exists already" >&2; exit 1; fi';
const UNPACK = `${IF_FREE}; mkdir -p -- "$1" && exec tar -C "$1" -xf -`;
const PUT = `${IF_FREE}; exec mv -T -- "$1" "$2"`;

const LONGEST_COMPLAINT = 4000;

/** What tar packs; fails when tar does. */
async function* packed(folder: string): AsyncGenerator<Buffer> {
  const tar = spawn('tar', ['-C', folder, '-cf', '-', '.'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // without it, tar of macOS adds files that nobody sees there
    env: { PATH: process.env['PATH'], COPYFILE_DISABLE: '1', LC_ALL: 'C' },
  });
  let problem = '';
  const complain = (text: string) => void (problem += text.slice(0, LONGEST_COMPLAINT - problem.length));
  handOn(tar.stderr.setEncoding('utf8'), complain, ignored);
  const over = once(tar, 'close');
  over.catch(() => undefined);
  try {
    yield* tar.stdout as AsyncIterable<Buffer>;
    const [code] = (await over) as [number | null];
    if (code !== 0) throw new Error(`${folder} cannot be packed: ${problem.trim() || `tar ended with code ${code}`}`);
  } finally {
    tar.kill();
  }
}

export async function sendFolder(commands: Commands, name: string, localFolder: string, path: string): Promise<void> {
  const draft = `${path}.${randomUUID().slice(0, 8)}.part`;
  const done = async (script: string, words: string[], input?: AsyncIterable<Uint8Array>) => {
    const command = ['/bin/sh', '-c', script, 'send', ...words] as const;
    const { code, signal, stderr } = await capture(commands, command, { input });
    if (code !== 0) throw new Error(`${path} cannot be written as ${name}: ${stderr.trim() || (signal ?? code)}`);
  };
  try {
    await done(UNPACK, [draft, path], packed(localFolder));
    await done(PUT, [draft, path]);
  } catch (error) {
    // best effort: the host may be away
    await commands.run(['rm', '-rf', '--', draft], { timeoutMs: 10_000 }).catch(() => undefined);
    throw error;
  }
}
