/**
 * Follows journals on a login node as they grow: one command there serves all batches of a person.
 *
 * It hears on its standard input which folders to follow and from where, and prints what is new (worker.py, `--follow`). It
 * ends when the connection does; then another one goes on where this one was.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Commands } from '../../hosts/index.ts';

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;
/** It says every ten seconds that it is there. */
const SILENCE_MS = 45_000;

interface Piece {
  file: string;
  offset: number;
  data: Buffer;
}

interface Subscription {
  /** The interpreter and the worker, on the login node. */
  worker: [string, string];
  folder: string;
  offsets(): Record<string, number>;
  onData(piece: Piece): void;
}

export interface Follower {
  follow(subscription: Subscription): { stop(): void };
  close(): void;
}

type Line = { folder: string; file: string; offset: number; data: string } | { alive: true };

/** Lines that are written while somebody reads them. */
function createLines() {
  const waiting: string[] = [];
  let wake = () => {};
  let ended = false;
  return {
    write(value: object) {
      waiting.push(`${JSON.stringify(value)}\n`);
      wake();
    },
    end() {
      ended = true;
      wake();
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
      for (;;) {
        const text = waiting.splice(0).join('');
        if (text !== '') yield Buffer.from(text);
        else if (ended) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

export function createFollower(commands: Commands): Follower {
  const subscriptions = new Set<Subscription>();
  const closing = new AbortController();
  let lines: ReturnType<typeof createLines> | undefined;
  let going = false;

  const tell = ({ folder, offsets }: Subscription) => lines?.write({ follow: folder, offsets: offsets() });

  function hear(line: string): void {
    const said = JSON.parse(line) as Line;
    if ('alive' in said) return;
    const { folder, file, offset, data } = said;
    for (const one of subscriptions) if (one.folder === folder) one.onData({ file, offset, data: Buffer.from(data) });
  }

  /** One life of the command. */
  async function follow([python, worker]: [string, string]): Promise<void> {
    lines = createLines();
    for (const one of subscriptions) tell(one);
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    let rest = '';
    try {
      await commands.run([python, '-I', '-S', worker, '--follow'], {
        input: lines,
        signal: AbortSignal.any([closing.signal, silence.signal]),
        onOutput(text, from) {
          if (from !== 'stdout') return;
          clearTimeout(timer);
          timer = setTimeout(() => silence.abort(), SILENCE_MS);
          const parts = (rest + text).split('\n');
          rest = parts.pop()!;
          parts.forEach(hear);
        },
      });
    } finally {
      clearTimeout(timer);
      lines.end();
      lines = undefined;
    }
  }

  async function keepFollowing(): Promise<void> {
    if (going) return;
    going = true;
    for (let wait = FIRST_WAIT_MS; subscriptions.size > 0 && !closing.signal.aborted;) {
      const began = Date.now();
      await follow([...subscriptions][0]!.worker).catch(() => undefined);
      wait = Date.now() - began > LONGEST_WAIT_MS ? FIRST_WAIT_MS : Math.min(2 * wait, LONGEST_WAIT_MS);
      if (subscriptions.size > 0) await sleep(wait, undefined, { signal: closing.signal }).catch(() => undefined);
    }
    going = false;
  }

  return {
    follow(subscription) {
      subscriptions.add(subscription);
      if (lines) tell(subscription);
      else void keepFollowing();
      return {
        stop() {
          subscriptions.delete(subscription);
          lines?.write({ forget: subscription.folder });
          if (subscriptions.size === 0) lines?.end();
        },
      };
    },
    close: () => closing.abort(),
  };
}
