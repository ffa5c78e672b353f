/**
 * Background work that survives a crash.
 *
 * Work is a row. Who does it holds a lease and renews it while it works; when a process dies, its lease runs out and
 * another process goes on (at once, when the dead process was on this machine). Handlers are told which attempt it is
 * and must be able to start over.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { type Database, isProcessAlive } from '../db/index.ts';
import { guarded } from '../guard.ts';
import type { Logger } from '../logging/index.ts';
import * as store from './store.ts';

export { addWork, fenced, type Lease, LeaseLost } from './store.ts';
import type { Lease } from './store.ts';

const LEASE_SECONDS = 30;
const RENEW_MS = 10_000;
const LOOK_MS = 2000;
const RETRY_SECONDS = 10;
export const MOST_ATTEMPTS = 5;

export interface WorkContext {
  attempt: number;
  /** A process that an earlier attempt left behind, if it told of one. */
  leftOver: { pid: number; started: string } | null;
  /** Tells which process works for it now, so that the next attempt can end it; fails when the lease is lost. */
  remember(process: { pid: number; started: string } | null): Promise<void>;
  /** True when no further attempt will follow a failure. */
  last: boolean;
  /** Proves in a transaction that the work is still ours. */
  lease: Lease;
  /** Aborted when the process ends or the lease is lost: stop here, somebody else goes on. */
  signal: AbortSignal;
}

/** Work that is given back as it is has not failed: another process goes on with it, or this one after a restart. */
export type Handler = (subjectId: number, context: WorkContext) => Promise<void | 'unfinished'>;

export interface Queue {
  /** Says that there is new work, so that nobody has to wait for the next look. */
  wake(): void;
  /** Takes no more work; what is under way goes on until its process ends. */
  stop(): Promise<void>;
}

export interface QueueOptions {
  db: Database;
  log: Logger;
  handlers: Record<string, Handler>;
  /** How many works at a time in this process. */
  slots: number;
  /** How long to wait after a failure. */
  retrySeconds?: number;
  /** False for work that is tried until it is done. */
  givesUp?: boolean;
  /** Handlers that listen to their signal are waited for when the queue stops. */
  waitsOnStop?: boolean;
}

/** Tells this process from an earlier one with the same number, as containers have them. */
const PROCESS = `${hostname()}:${process.pid}#${randomUUID()}`;

/** True for a holder on this machine that is no more. */
function isDead(holder: string): boolean {
  const [holderHost, rest = ''] = [holder.slice(0, holder.lastIndexOf(':')), holder.slice(holder.lastIndexOf(':') + 1)];
  if (holderHost !== hostname() || holder.startsWith(PROCESS)) return false;
  const pid = Number(rest.split('#')[0]);
  return pid === process.pid || !isProcessAlive(pid);
}

/** Gives back the work of processes of this machine that are no more. */
async function releaseOfEndedProcesses(db: Database): Promise<void> {
  await store.releaseWork(db, (await store.holdersOfWork(db)).filter(isDead));
}

export function startQueue(options: QueueOptions): Queue {
  const { db, log, handlers, slots, retrySeconds = RETRY_SECONDS, givesUp = true, waitsOnStop = false } = options;
  const worker = `${PROCESS}-${randomUUID()}`;
  const running = new Map<number, { done: Promise<void>; control: AbortController }>();
  let stopped = false;
  let nudge = () => {};

  async function work(item: store.WorkItem, signal: AbortSignal): Promise<void> {
    const last = givesUp && item.attempts >= MOST_ATTEMPTS;
    const lease = { id: item.id, holder: worker };
    try {
      const outcome = await handlers[item.kind]!(item.subject_id, {
        attempt: item.attempts,
        leftOver: item.process,
        remember: (handle) => store.rememberProcess(db, lease, handle),
        last,
        lease,
        signal,
      });
      await (outcome === 'unfinished' ? store.giveBack(db, lease) : store.finishWork(db, lease));
    } catch (error) {
      // the database is closed under work that nobody waits for; whoever starts next carries it on
      if (stopped && !waitsOnStop) return;
      log.error(`Background work ${item.kind} ${item.subject_id} failed, attempt ${item.attempts}`, error);
      const settle = last ? store.finishWork(db, lease) : store.postponeWork(db, lease, retrySeconds);
      await settle.catch((late: unknown) => log.error('Background work could not be given back', late));
    }
  }

  async function look(): Promise<void> {
    while (!stopped && running.size < slots) {
      const item = await store.claimWork(db, worker, Object.keys(handlers), LEASE_SECONDS, [...running.keys()]);
      if (!item) return;
      const control = new AbortController();
      const done = work(item, control.signal).finally(() => {
        running.delete(item.id);
        nudge();
      });
      running.set(item.id, { done, control });
    }
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      // made before the look, so that what comes meanwhile is not missed
      const nudged = new Promise<void>((resolve) => (nudge = resolve));
      try {
        await releaseOfEndedProcesses(db);
        await look();
      } catch (error) {
        if (!stopped) log.error('Looking for background work failed', error);
      }
      await Promise.race([nudged, sleep(LOOK_MS, undefined, { ref: false })]);
    }
  }

  async function renew(): Promise<void> {
    const ids = [...running.keys()];
    const held = await store.renewLeases(db, worker, ids, LEASE_SECONDS);
    for (const id of ids) if (!held.has(id)) running.get(id)?.control.abort(new store.LeaseLost(id));
  }

  const notRenewed = (error: Error) => log.error('Leases of background work could not be renewed', error);
  const renewing = setInterval(
    guarded(() => (running.size === 0 ? undefined : renew()), notRenewed),
    RENEW_MS,
  );
  renewing.unref();
  const looping = loop();

  return {
    wake: () => nudge(),
    async stop() {
      stopped = true;
      nudge();
      clearInterval(renewing);
      await looping;
      for (const { control } of running.values()) control.abort(new Error('The service is stopping.'));
      if (waitsOnStop) await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
}
