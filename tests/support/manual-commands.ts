/**
 * Runs commands of the manual as they are written. What can't be the same here is exchanged by its name: a folder, a host, an
 * account; programs that would change this machine have stand-ins.
 *
 *     runBlock(blockOf('docs/operate/backup.md', 'tar --exclude'), {
 *       replace: { '/srv/service': folder },
 *       standIns: { systemctl: 'echo "$@" >> done' },
 *     });
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Block } from './manual-texts.ts';
import { cleanEnvironment, ROOT, type Running, startCommand } from './processes.ts';

const NODE = join(ROOT, 'node_modules/.bin/node');
/** Who runs until it is stopped writes its number here, below `$STAND_INS`. */
const RUNNING = 'running.pid';
const inCheckout = (program: string) => `echo $$ >"$STAND_INS/${RUNNING}"; exec ${NODE} ${join(ROOT, program)} "$@"`;

/** In any folder, and without the second that npx takes. */
const OWN_PROGRAMS = {
  servicectl: inCheckout('packages/server/bin/servicectl.cjs'),
  npx: 'program=$1; shift; exec "$program" "$@"',
};

/** `npm start`, without npm around it. */
export const NPM_START = `[ "$1" = start ] || exit 2; shift; ${inCheckout('packages/server/bin/start.cjs')}`;

/** What sudo does for an account that is everybody here. */
export const SUDO = 'while [ "${1#-}" != "$1" ]; do [ "$1" = -u ] && shift; shift; done; exec "$@"';

/** Lines of a test that are done like those of the manual. */
export const linesOf = (text: string): Block => ({ page: 'the test', language: 'sh', file: undefined, text });

export interface BlockOptions {
  /** Where it is done; stand-ins are put into it too. */
  folder: string;
  /** Where it is done otherwise. */
  cwd?: string;
  replace?: Record<string, string>;
  /** Programs by their name, as lines of sh. */
  standIns?: Record<string, string>;
  environment?: Record<string, string>;
  input?: string;
}

/** The block with what is exchanged, each of which has to be in it. */
export function exchanged({ page, text }: Block, replace: Record<string, string> = {}): string {
  const names = Object.keys(replace).toSorted((a, b) => b.length - a.length);
  const missing = names.filter((name) => !text.includes(name));
  if (missing.length > 0) throw new Error(`Not in this block of ${page}: ${missing.join(', ')}\n${text}`);
  if (names.length === 0) return text;
  const plain = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return text.replaceAll(new RegExp(plain.join('|'), 'g'), (name) => replace[name]!);
}

/** A folder with these programs. */
function programsIn(folder: string, programs: Record<string, string>): string {
  mkdirSync(folder, { recursive: true });
  const bin = mkdtempSync(join(folder, 'programs-'));
  // other accounts may have to start them
  chmodSync(bin, 0o755);
  for (const [name, lines] of Object.entries(programs))
    writeFileSync(join(bin, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  return bin;
}

/** A shell that stops at the first command that fails, as a careful reader does. */
function shellFor(blocks: Block[], { folder, cwd = folder, replace = {}, standIns, environment }: BlockOptions) {
  const bin = programsIn(folder, { ...OWN_PROGRAMS, ...standIns });
  const named = Object.entries(replace);
  const text = blocks
    .map((block) => exchanged(block, Object.fromEntries(named.filter(([written]) => block.text.includes(written)))))
    .join('\n');
  const unused = named.filter(([written]) => !blocks.some((block) => block.text.includes(written)));
  if (unused.length > 0) throw new Error(`Not in these blocks: ${unused.map(([written]) => written).join(', ')}`);
  const path = `${bin}:${process.env['PATH']}:/usr/sbin:/sbin`;
  return {
    bin,
    cwd,
    args: ['--norc', '-euo', 'pipefail', '-c', text],
    env: { ...environment, PATH: path, STAND_INS: bin },
  };
}

/** Blocks as one terminal gets them. */
export function runBlock(block: Block | Block[], options: BlockOptions) {
  const { args, cwd, env } = shellFor([block].flat(), options);
  const { input = '' } = options;
  const { status, stdout, stderr } = spawnSync('bash', args, {
    cwd,
    env: cleanEnvironment(env),
    encoding: 'utf8',
    input,
    maxBuffer: 2 ** 26,
  });
  return { code: status, out: stdout, err: stderr };
}

/** A block whose last command runs until somebody stops it. */
export function startBlock(
  block: Block | Block[],
  options: BlockOptions,
): Running & { stop(): Promise<number | string> } {
  const { args, bin, cwd, env } = shellFor([block].flat(), options);
  const running = startCommand('bash', args, { folder: cwd, environment: env });
  running.process.stdin!.end(options.input ?? '');
  const stop = () => {
    process.kill(Number(readFileSync(join(bin, RUNNING), 'utf8')), 'SIGTERM');
    return running.ended;
  };
  return { ...running, stop };
}
