/**
 * A command on the far side: its words, its streams and how it ended.
 *
 * Success is only what the far side says itself: a session that ends without an exit status is `HostAway`, one in which
 * the command never began is an error. A command that is to end is ended with all it started, by a second session.
 */
import { randomBytes } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';

import type { ClientChannel } from 'ssh2';

import { guarded, ignored } from '../../guard.ts';
import {
  type Command,
  type Finished,
  type Host,
  HostAway,
  HostTimeout,
  type ProcessHandle,
  type RunOptions,
} from '../host.ts';
import { feed } from '../input.ts';
import { handOn } from '../output.ts';
import type { Connection } from './connection.ts';
import { commandLine, secretLines } from './words.ts';

/** Where a command runs: its number, and whether all it starts shares it as the number of the group. */
interface FarProcess extends ProcessHandle {
  group: number;
}

/** Login scripts may print much; of what comes before the command, this much is kept to look at … */
const KEPT_NOISE = 64 * 1024;
/** … and this much is waited for. */
const MOST_NOISE = 4 * 2 ** 20;
/** What the kernel says of a process, with room for a long name. */
const LONGEST_MARK_LINE = 4096;

/** Reads what the kernel says of a process, as in `/proc/<pid>/stat`; the name in brackets may hold anything. */
function readStat(stat: string): FarProcess {
  const fields = stat.split(') ').at(-1)!.split(' ');
  return { pid: Number.parseInt(stat), group: Number(fields[2]), started: fields[19] ?? '' };
}

type Pass = (chunk: Buffer) => Promise<void> | void;

/** Passes on what follows the line with the mark. Login scripts belong to the account: they may print anything. */
function behindMark(mark: string, onMark: (line: string) => void, pass: Pass) {
  let before: Buffer | undefined = Buffer.alloc(0);
  let noise = 0;
  return {
    take(chunk: Buffer): Promise<void> | void {
      if (before === undefined) return pass(chunk);
      noise += chunk.length;
      before = Buffer.concat([before, chunk]);
      const at = before.indexOf(mark);
      const end = at < 0 ? -1 : before.indexOf('\n', at);
      if (end < 0) {
        if (noise > MOST_NOISE || (at >= 0 && before.length - at > LONGEST_MARK_LINE)) {
          throw new Error('its login scripts print without end. Check what ~/.bashrc and the like print.');
        }
        if (at < 0) before = before.subarray(-KEPT_NOISE);
        return;
      }
      const [line, rest] = [before.toString('utf8', at + mark.length, end).trim(), before.subarray(end + 1)];
      before = undefined;
      onMark(line);
      if (rest.length > 0) return pass(rest);
    },
    /** Whether the command has begun, as far as this stream tells. */
    begun: () => before === undefined,
    /** What came instead of the mark. */
    noise: () => before?.toString('utf8').trim() ?? '',
  };
}

/** Asks all `$@` to end, and makes those that are still there after five seconds. */
const END = [
  'left() { for one; do kill -s 0 -- "$one" 2>/dev/null && return 0; done; return 1; }',
  'kill -s TERM -- "$@" 2>/dev/null',
  'n=0',
  'while left "$@" && test $n -lt 50; do sleep 0.1; n=$((n+1)); done',
  'kill -s KILL -- "$@" 2>/dev/null',
  'exit 0',
].join('; ');

export const endCommand = (targets: string[]): Command => ['/bin/sh', '-c', END, 'end', ...targets];

/** What `kill` is to be told to reach a process with all it started. */
export const groupOf = ({ pid }: ProcessHandle) => String(-pid);

/**
 * Ends commands by a session that is kept free for it. Many are often ended at the same time, with a job, and there is one
 * such session: those that come while it is at work go together into the next one.
 */
function createEnder(run: Run) {
  let [waiting, busy]: [string[], boolean] = [[], false];
  return async (target: string): Promise<void> => {
    waiting.push(target);
    if (busy) return;
    busy = true;
    while (waiting.length > 0) {
      const targets = waiting;
      waiting = [];
      await run(endCommand(targets), {}, true).catch(() => undefined);
    }
    busy = false;
  };
}

interface Following {
  command: Command;
  mark: string;
  options: RunOptions;
  leftMs?: number;
  connection: Pick<Connection, 'name' | 'limits'>;
  endThere: (target: string) => Promise<void>;
}

function follow(
  { channel, broken }: { channel: ClientChannel; broken: AbortSignal },
  { command, mark, options, leftMs, connection, endThere }: Following,
): Promise<Finished> {
  const { onOutput, onBytes, onStart, input, secrets, signal } = options;
  const { name, limits } = connection;
  const [program] = command;
  return new Promise((resolve, reject) => {
    let process: FarProcess | undefined;
    let ending: { problem?: unknown } | undefined;
    let lastly: NodeJS.Timeout | undefined;
    const closed = new AbortController();

    const kill = ({ pid, group }: FarProcess) =>
      void endThere(group === pid ? groupOf({ pid, started: '' }) : String(pid));
    const end = (problem?: unknown) => {
      if (ending !== undefined) return;
      ending = { problem };
      if (process !== undefined) kill(process);
      const giveUp = () => {
        channel.close();
        const still = new HostTimeout(program, `was asked to end on ${name} and did not. It may still run there.`);
        settle(() => reject(problem ?? still));
      };
      lastly = setTimeout(guarded(giveUp, reject), limits.endMs);
    };
    /** Nothing more is heard from it. */
    const endBecause = (problem: unknown) => {
      end(problem);
      channel.close();
      settle(() => reject(problem));
    };
    const guardedAbort = guarded(() => end(), reject);
    const guardedBreak = guarded(() => settle(() => reject(broken.reason)), reject);
    const overTime = () =>
      end(new HostTimeout(program, `took longer than ${options.timeoutMs! / 1000} s on ${name} and was ended.`));
    const timer = leftMs === undefined ? undefined : setTimeout(guarded(overTime, reject), Math.max(0, leftMs));
    const settle = (how: () => void) => {
      clearTimeout(timer);
      clearTimeout(lastly);
      signal?.removeEventListener('abort', guardedAbort);
      broken.removeEventListener('abort', guardedBreak);
      closed.abort();
      how();
    };

    const begun = (stat: string) => {
      process = readStat(stat);
      if (ending !== undefined) return kill(process);
      if (secrets !== undefined) channel.write(secretLines(secrets));
      if (input !== undefined) feed(channel, input, closed.signal).catch(end);
      else if (secrets !== undefined) channel.end();
      const told = async ({ pid, started }: FarProcess) => onStart?.({ pid, started });
      // a command that nobody knows of must not go on
      told(process).catch(end);
    };
    const text = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
    const say = (from: 'stdout' | 'stderr', piece: string) => (piece === '' ? undefined : onOutput?.(piece, from));
    const stdout = behindMark(mark, begun, (chunk) =>
      onBytes ? onBytes(chunk) : say('stdout', text.stdout.write(chunk)),
    );
    const stderr = behindMark(
      mark,
      () => {},
      (chunk) => say('stderr', text.stderr.write(chunk)),
    );

    const fail = (stream: typeof stdout) => (error: Error) =>
      endBecause(
        stream.begun() ? error : new Error(`${program} could not begin as ${name}: ${error.message}`, { cause: error }),
      );
    const allTaken = [handOn(channel, stdout.take, fail(stdout)), handOn(channel.stderr, stderr.take, fail(stderr))];
    channel.on('error', ignored);
    const over = async (exit: Finished | undefined) => {
      for (const taken of allTaken) await taken();
      for (const from of ['stdout', 'stderr'] as const) await say(from, text[from].end());
      if (ending?.problem !== undefined) throw ending.problem as Error;
      if (exit === undefined) throw new HostAway(`${name} did not say how ${program} ended.`);
      if (process === undefined && ending === undefined) {
        const said = stderr.noise() || stdout.noise() || `exit code ${exit.code}`;
        throw new Error(`${program} could not begin as ${name}: ${said}`);
      }
      return exit;
    };
    // the event of the exit itself may have been before we listened; this one tells the same
    const onClose = (code?: number | null, exitSignal?: string) =>
      settle(
        () => void over(code === undefined ? undefined : { code, signal: exitSignal ?? null }).then(resolve, reject),
      );
    channel.once('close', guarded(onClose, reject));
    signal?.addEventListener('abort', guardedAbort);
    broken.addEventListener('abort', guardedBreak);
    if (input === undefined && secrets === undefined) channel.end();
    if (broken.aborted) guardedBreak();
    else if (signal?.aborted) guardedAbort();
  });
}

type Run = (command: Command, options?: RunOptions, urgent?: boolean) => Promise<Finished>;

export function createRun(connection: Connection): Host['run'] {
  const run: Run = async (command, options = {}, urgent = false) => {
    const { signal, timeoutMs } = options;
    const mark = `begin-${randomBytes(12).toString('hex')}`;
    const line = commandLine(command, { cwd: options.cwd, env: options.env, secrets: options.secrets, mark });
    const asked = Date.now();
    let opened;
    try {
      opened = await connection.open(line, { urgent, signal, waitMs: timeoutMs });
    } catch (error) {
      // as if it had been ended the moment it began
      if (signal?.aborted && error === signal.reason) return { code: null, signal: 'SIGTERM' };
      throw error;
    }
    const leftMs = timeoutMs === undefined ? undefined : timeoutMs - (Date.now() - asked);
    return follow(opened, { command, mark, options, leftMs, connection, endThere });
  };
  const endThere = createEnder(run);
  return (command, options) => run(command, options);
}
