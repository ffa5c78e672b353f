/**
 * The one connection to a host as a user: opened when it is first needed, kept, shared by all who ask.
 *
 * When it breaks, what runs on it fails at once with `HostAway`, and the next one to ask opens it again. After an attempt
 * in vain there is a pause, longer each time; those who ask meanwhile wait for the same next attempt.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Client, ClientChannel } from 'ssh2';

import { guarded } from '../../guard.ts';
import { pauseAfter } from '../../retry.ts';
import { HostAway } from '../host.ts';
import { connect, type Connected, type SshIdentity } from './connect.ts';
import type { KnownHosts } from './known-hosts.ts';
import type { SshLimits } from './limits.ts';
import { createSessions } from './sessions.ts';

/** What is worth telling an administrator. */
export interface HostLog {
  info(message: string): void;
  warning(message: string): void;
}

interface OpenOptions {
  /** To end what runs: does not stand in the line for a free session. */
  urgent?: boolean;
  signal?: AbortSignal;
  /** Until the session is open. */
  waitMs?: number;
}

export interface Connection {
  /** For messages: `alice at login.example.org`. */
  name: string;
  limits: SshLimits;
  /** Begins a command line in a session of its own. `broken` tells when the connection is no more. */
  open(line: string, options: OpenOptions): Promise<Opened>;
  close(): void;
}

interface Opened {
  channel: ClientChannel;
  broken: AbortSignal;
}

/** `alone`: though nothing else of ours ran there. */
interface Refused {
  refused: Error;
  alone: boolean;
}

/** sshd lets go of a session after it has read all that has come: who asks right behind the end of another one is refused. */
const REFUSED_PAUSES_MS = [50, 100, 200, 400, 800, 1600];

interface ChannelError extends Error {
  /** Set where the host refused to open a session. */
  reason?: unknown;
}

/** Waits for what others wait for too, but not longer than this one caller wants to. */
function waitAtMost<T>(what: Promise<T>, ms: number, late: () => Error, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const guardedAbort = guarded(() => settle(() => reject(signal!.reason)), reject);
    const timer =
      ms === Infinity
        ? undefined
        : setTimeout(
            guarded(() => settle(() => reject(late())), reject),
            ms,
          );
    const settle = (how: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', guardedAbort);
      how();
    };
    signal?.addEventListener('abort', guardedAbort);
    if (signal?.aborted) guardedAbort();
    what.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
}

/** A connection that stands and opens no session is of no use to anybody, so it is given up. */
async function openChannel({ client, broken }: Connected, line: string, limits: SshLimits, name: string) {
  broken.throwIfAborted();
  const opening = new Promise<ClientChannel>((resolve, reject) => {
    const opened = (error?: Error, channel?: ClientChannel) => (error ? reject(error) : resolve(channel!));
    exec(client, line, guarded(opened, reject));
  });
  const tooLate = () => {
    client.destroy();
    return new HostAway(`${name} opened no session within ${limits.openMs / 1000} s.`);
  };
  return waitAtMost(opening, limits.openMs, tooLate, broken);
}

function exec(client: Client, line: string, done: (error?: Error, channel?: ClientChannel) => void): void {
  try {
    client.exec(line, done);
  } catch (error) {
    done(error as Error);
  }
}

export function createConnection(
  identity: SshIdentity,
  { known, limits, log }: { known: KnownHosts; limits: SshLimits; log: HostLog },
): Connection {
  const name = `${identity.username} at ${identity.host}`;
  const sessions = createSessions(name, limits.sessions);
  const closing = new AbortController();
  let current: Promise<Connected> | undefined;
  let established: Connected | undefined;
  let [failures, notBefore, lastProblem] = [0, 0, ''];

  async function attempt(): Promise<Connected> {
    const pause = notBefore - Date.now();
    if (pause > 0) await sleep(pause, undefined, { signal: closing.signal }).catch(() => undefined);
    closing.signal.throwIfAborted();
    const connected = await connect(identity, known, limits).catch((error: Error) => {
      failures += 1;
      const next = pauseAfter(failures, limits);
      notBefore = Date.now() + next;
      lastProblem = error.message;
      log.warning(`${error.message} Next attempt for ${name} in ${next / 1000} s at the earliest.`);
      throw error;
    });
    [failures, notBefore, lastProblem] = [0, 0, ''];
    sessions.reset();
    established = connected;
    const lost = () => {
      if (established !== connected) return;
      [established, current] = [undefined, undefined];
      if (!closing.signal.aborted) log.warning((connected.broken.reason as Error).message);
    };
    // whatever happens, nobody is given a connection that is no more, and a session that is over is free again
    connected.broken.addEventListener('abort', guarded(lost, lost));
    if (connected.broken.aborted) lost();
    if (closing.signal.aborted) connected.client.end();
    log.info(`Connected to ${identity.host} as ${identity.username}.`);
    return connected;
  }

  function live(): Promise<Connected> {
    if (current === undefined) {
      const mine = attempt();
      mine.catch(() => {
        if (current === mine) current = undefined;
      });
      current = mine;
    }
    return current;
  }

  /** One attempt: a session, or what the host said when it refused one. */
  async function openOnce(
    line: string,
    { urgent, signal }: OpenOptions,
    left: () => number,
  ): Promise<Opened | Refused> {
    const reach = () =>
      waitAtMost(live(), left(), () => new HostAway(`${name} was not reached in time. ${lastProblem}`.trim()), signal);
    // first of all, so that everybody hears at once that the host is away, and not one after the other
    await reach();
    const leave = urgent ? () => {} : await sessions.enter({ ms: Math.min(left(), limits.waitMs), signal });
    let alone = true;
    try {
      const connected = await reach();
      alone = urgent === true || sessions.open() <= 1;
      const channel = await openChannel(connected, line, limits, name);
      const guardedLeave = guarded(leave, leave);
      channel.once('close', guardedLeave);
      connected.broken.addEventListener('abort', guardedLeave);
      return { channel, broken: connected.broken };
    } catch (error) {
      const isRefused = (error as ChannelError).reason !== undefined;
      if (isRefused && !alone) sessions.shrink();
      leave();
      if (isRefused) return { refused: error as Error, alone };
      throw error;
    }
  }

  async function open(line: string, options: OpenOptions): Promise<Opened> {
    const { signal, waitMs = Infinity } = options;
    const deadline = Date.now() + waitMs;
    const left = () => Math.max(0, deadline - Date.now());
    const pauses = [...REFUSED_PAUSES_MS];
    for (;;) {
      closing.signal.throwIfAborted();
      const opened = await openOnce(line, options, left).catch((error: Error) => {
        if (error instanceof HostAway || error === signal?.reason) throw error;
        throw noSession(error);
      });
      if ('channel' in opened) return opened;
      // fewer at a time from now on: it comes to its turn
      if (!opened.alone) continue;
      const pause = pauses.shift();
      if (pause === undefined || pause > left()) throw noSession(opened.refused);
      await sleep(pause, undefined, { signal }).catch(() => signal!.throwIfAborted());
    }
  }

  const noSession = (cause: Error) => new HostAway(`${name} opened no session: ${cause.message}`, { cause });

  return {
    name,
    limits,
    open,
    close() {
      closing.abort(new HostAway(`The connection to ${identity.host} was closed by the service.`));
      established?.client.end();
    },
  };
}
