/**
 * What the system knows about processes: Linux tells it in /proc, other systems such as macOS by `ps`. Both ways give the same
 * answers, and so does the worker (runners/worker/processes.py), which writes down when a process began.
 */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export const HAS_PROC = existsSync('/proc/self/stat');

const PAGE = 4096;
const KIBIBYTE = 1024;
/** Words and times as every system writes them for everybody. */
const PLAIN = { LC_ALL: 'C', TZ: 'UTC', PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
const MUCH = 2 ** 25;

const ps = (...words: string[]) =>
  spawnSync('ps', words, { env: PLAIN, encoding: 'utf8', timeout: 10_000 }).stdout?.trim() ?? '';

interface Life {
  hasEnded: boolean;
  /** When it began, in digits, as the system counts: with the number of the process it names one process for good. */
  started: string;
}

/** Of `ps -o stat= -o lstart=`: `Ss   Tue Nov 17 04:35:21 2026`. */
export function lifeFromPs(printed: string): Life | undefined {
  const [, state, began] = /^(\S+)\s+(\S.*)$/.exec(printed) ?? [];
  const time = Date.parse(`${began} UTC`);
  if (state === undefined || Number.isNaN(time)) return undefined;
  return { hasEnded: /^[ZX]/.test(state), started: String(time / 1000) };
}

/** Fields of `/proc/<pid>/stat`: the name of a program may hold spaces and brackets, so they are counted from behind it. */
const STATE = 0;
const START_TIME = 19;
/** Of `/proc/<pid>/statm`. */
const RESIDENT_PAGES = 1;

function lifeFromProc(pid: number): Life | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return { hasEnded: /^[ZX]$/.test(fields[STATE]!), started: fields[START_TIME] ?? '' };
  } catch {
    return undefined;
  }
}

const lifeOf = (pid: number) =>
  HAS_PROC ? lifeFromProc(pid) : lifeFromPs(ps('-o', 'stat=', '-o', 'lstart=', '-p', String(pid)));

/** When a process began; empty when there is none, or only its remains. */
export function startOf(pid: number): string {
  const life = lifeOf(pid);
  return life === undefined || life.hasEnded ? '' : life.started;
}

/** Whether only the remains of a process are there, which nobody has collected yet. */
export const hasEnded = (pid: number) => lifeOf(pid)?.hasEnded ?? false;

/** Its memory, in bytes; 0 when there is no such process. */
export async function residentBytes(pid: number): Promise<number> {
  try {
    if (HAS_PROC) return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[RESIDENT_PAGES]) * PAGE;
    const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)], { env: PLAIN });
    return Number(stdout) * KIBIBYTE;
  } catch {
    return 0;
  }
}

/** Whether the command line of a process ends with this word. `ps` puts blanks between words, whatever is in them. */
export async function endsWithWord(pid: number, word: string): Promise<boolean> {
  if (!HAS_PROC) return ps('-ww', '-o', 'command=', '-p', String(pid)).endsWith(` ${word}`);
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text.split('\0').at(-2) === word;
}

/** The processes of this machine whose command line ends with this word. */
export async function processesWithWord(word: string): Promise<{ pid: number; started: string }[]> {
  const found: number[] = [];
  if (HAS_PROC) {
    for (const name of await readdir('/proc')) {
      const pid = Number(name);
      if (Number.isInteger(pid) && (await endsWithWord(pid, word))) found.push(pid);
    }
  } else {
    const all = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=', '-o', 'command='], {
      env: PLAIN,
      maxBuffer: MUCH,
    });
    const lines = all.stdout.split('\n').filter((line) => line.endsWith(` ${word}`));
    found.push(...lines.map((line) => Number.parseInt(line, 10)));
  }
  return found.map((pid) => ({ pid, started: startOf(pid) }));
}
