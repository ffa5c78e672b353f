/**
 * A process that reads people's files and makes something of them (serve.ts), seen from the service: started with the first
 * order, ended when it was idle for a while or took too much memory or time, started again with the next.
 *
 * Its memory has two bounds. The kernel lets it have no more data than the limit and what Node reserves anyway, so that one
 * huge allocation fails where it happens; and it is ended when it holds more than the limit.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';

import { guarded, ignored } from '../guard.ts';
import type { Logger } from '../logging/index.ts';
import { HAS_PROC, residentBytes } from '../processes.ts';
import type { Done, FromStudio, Order, ToStudio } from './order.ts';

const IDLE_MS = 120_000;
/** Where a command has to be asked, less often. */
const LOOK_EVERY_MS = HAS_PROC ? 100 : 1000;
const LONGEST_MS = 120_000;
const KIBIBYTE = 1024;
/** What Node reserves as data when it starts, and mostly never uses. */
const RESERVED_BY_NODE = 640 * 2 ** 20;
const HEAP_MEBIBYTES = 384;
const THREADS = '8';

/** It ended while it worked on an order: because of it, perhaps because of it, or not. */
export interface Died {
  died: 'memory' | 'time' | 'crash';
  guilty: 'yes' | 'perhaps' | 'no';
}

export interface StudioProcess<Ask> {
  carryOut(order: Omit<Order<Ask>, 'id'>, signal: AbortSignal): Promise<Done | Died>;
  close(): void;
}

export interface StudioOptions {
  /** What the process runs, and what its work is called in the log. */
  program: string;
  work: string;
  /** Where what it makes is kept. */
  folder: string;
  /** How large that may become, and how much memory the process may take, in bytes. */
  largest: number;
  memory: number;
  log: Logger;
}

interface Running {
  resolve(done: Done | Died): void;
  since: number;
}

function start({ program, folder, largest, memory }: StudioOptions): ChildProcess {
  mkdirSync(folder, { recursive: true });
  const limit = Math.ceil((memory + RESERVED_BY_NODE) / KIBIBYTE);
  const node = [process.execPath, `--max-old-space-size=${HEAP_MEBIBYTES}`, '--disable-warning=ExperimentalWarning'];
  return spawn(
    '/bin/sh',
    ['-c', 'ulimit -d "$0"; exec "$@"', String(limit), ...node, program, folder, String(largest)],
    {
      // nothing that the service knows by its environment is needed there
      env: { PATH: process.env['PATH'], UV_THREADPOOL_SIZE: THREADS },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
    },
  );
}

export function createStudioProcess<Ask>(options: StudioOptions): StudioProcess<Ask> {
  const { memory, work, log } = options;
  let child: ChildProcess | undefined;
  let watch: NodeJS.Timeout | undefined;
  let idle: NodeJS.Timeout | undefined;
  let count = 0;
  const running = new Map<number, Running>();

  /** Everything under way ends with the process; the order that is to blame is named where it is known. */
  function end(why: Died['died'], guilty?: number): void {
    const ended = child;
    child = undefined;
    clearInterval(watch);
    const orders = [...running];
    running.clear();
    for (const [id, { resolve }] of orders) {
      const blame = guilty === undefined ? (orders.length === 1 ? 'yes' : 'perhaps') : id === guilty ? 'yes' : 'no';
      resolve({ died: why, guilty: blame });
    }
    ended?.kill('SIGKILL');
  }

  /** A defect of ours: the process begins anew with the next order. */
  function failed(error: Error): void {
    log.error(`Following the process for ${work} failed`, error);
    end('crash');
  }

  async function look(): Promise<void> {
    const looked = child;
    if (looked?.pid === undefined) return;
    const bytes = await residentBytes(looked.pid);
    if (child !== looked) return;
    if (bytes > memory) {
      log.warning(`The process for ${work} took ${Math.round(bytes / 2 ** 20)} MiB of memory and was ended.`);
      return end('memory');
    }
    const late = [...running].find(([, { since }]) => Date.now() - since > LONGEST_MS);
    if (late) {
      log.warning(`The process for ${work} took more than ${LONGEST_MS / 1000} s and was ended.`);
      end('time', late[0]);
    }
  }

  function settle(): void {
    if (running.size > 0) return;
    clearInterval(watch);
    const endIdle = () => {
      const ended = child;
      child = undefined;
      ended?.kill('SIGTERM');
    };
    idle = setTimeout(guarded(endIdle, failed), IDLE_MS).unref();
  }

  function begin(): ChildProcess {
    const started = start(options);
    let words = '';
    const onWords = (part: Buffer) => (words = (words + part.toString()).slice(-2000));
    started.stderr!.on('data', guarded(onWords, ignored));
    const onDone = ({ id, done }: FromStudio) => {
      running.get(id)?.resolve(done);
      running.delete(id);
      settle();
    };
    started.on('message', guarded(onDone, failed));
    const gone = (how: string) => {
      if (child !== started) return;
      log.warning(`The process for ${work} ended: ${how}. ${words.trim()}`);
      end('crash');
    };
    const onExit = (code: number | null, signal: NodeJS.Signals | null) => gone(String(code ?? signal));
    started.once('exit', guarded(onExit, failed));
    started.once(
      'error',
      guarded((error: Error) => gone(error.message), failed),
    );
    // it never keeps the service from ending
    started.unref();
    started.channel?.unref();
    (started.stderr as unknown as { unref?(): void }).unref?.();
    return started;
  }

  return {
    carryOut(order, signal) {
      clearTimeout(idle);
      if (running.size === 0) watch = setInterval(guarded(look, failed), LOOK_EVERY_MS).unref();
      child ??= begin();
      const id = ++count;
      const asked = child;
      return new Promise((resolve) => {
        const guardedCancel = guarded(
          () => asked.connected && asked.send({ cancel: id } satisfies ToStudio<Ask>),
          failed,
        );
        running.set(id, {
          since: Date.now(),
          resolve(done) {
            signal.removeEventListener('abort', guardedCancel);
            resolve(done);
          },
        });
        signal.addEventListener('abort', guardedCancel, { once: true });
        asked.send({ order: { ...order, id } } satisfies ToStudio<Ask>, (error) => {
          if (error && running.has(id)) end('crash');
        });
      });
    },
    close() {
      clearTimeout(idle);
      end('crash');
    },
  };
}
