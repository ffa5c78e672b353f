/**
 * Follows journals on a login node as they grow: one command there serves all batches of a person.
 *
 * It hears on its standard input which folders to follow and from where, and prints what is new (worker/follow.py). It
 * ends when the connection does; then another one goes on where this one was. What it prints comes from an account of the
 * person, so it is believed only as far as it fits; a batch that does not take what came for it is not followed until it has.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { z } from 'zod';

import { guarded } from '../../guard.ts';
import type { Commands } from '../../hosts/index.ts';
import { pauseAfter } from '../../retry.ts';
import { createLines } from '../lines.ts';

const PAUSES = { firstPauseMs: 1000, longestPauseMs: 60_000 };
/** It says every ten seconds that it is there. */
const SILENCE_MS = 45_000;
/** A line about several records has about a megabyte of them. */
const BESIDE_RECORD = 4 * 2 ** 20;

interface Piece {
  file: string;
  offset: number;
  data: Buffer;
}

interface Subscription {
  /** The interpreter and the worker, on the login node. */
  worker: [string, string];
  folder: string;
  /** Bytes of the longest record in the journals there. */
  longestRecord: number;
  offsets(): Record<string, number>;
  /** False when nothing more can be taken before `goOn` is called. */
  onData(piece: Piece): boolean;
  /** A journal of which nothing more comes: it is not what a worker writes. */
  onBroken(file: string): void;
}

export interface JournalFollower {
  follow(subscription: Subscription): { goOn(): void; stop(): void };
  close(): void;
}

const Line = z.union([
  z.object({
    folder: z.string(),
    file: z.string(),
    offset: z.int().min(0),
    /** A character for each byte. */
    data: z.string(),
  }),
  z.object({ folder: z.string(), file: z.string(), broken: z.literal(true) }),
  z.object({ alive: z.literal(true) }),
]);

/** Lines that are written while somebody reads them. */
function createMessages() {
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

export function createFollower(commands: Commands): JournalFollower {
  const subscriptions = new Set<Subscription>();
  /** Have more than they can take. */
  const full = new Set<Subscription>();
  const closing = new AbortController();
  let messages: ReturnType<typeof createMessages> | undefined;
  let going = false;

  const tell = ({ folder, offsets, longestRecord }: Subscription) =>
    messages?.write({ follow: folder, offsets: offsets(), longest: longestRecord });

  function hold(subscription: Subscription): void {
    full.add(subscription);
    messages?.write({ forget: subscription.folder });
  }

  function hear(line: Buffer): void {
    const said = Line.parse(JSON.parse(line.toString('utf8')));
    if ('alive' in said) return;
    for (const one of subscriptions) {
      if (one.folder !== said.folder || full.has(one)) continue;
      if ('broken' in said) one.onBroken(said.file);
      else if (!one.onData({ ...said, data: Buffer.from(said.data, 'latin1') })) hold(one);
    }
  }

  /** In JSON, each quote of a record has one more byte. */
  const longestLine = () => Math.max(0, ...[...subscriptions].map((one) => 2 * one.longestRecord)) + BESIDE_RECORD;

  /** One life of the command; it ends with the first line that it should not have printed. */
  async function follow([python, worker]: [string, string]): Promise<void> {
    messages = createMessages();
    full.clear();
    for (const one of subscriptions) tell(one);
    const silence = new AbortController();
    const giveUp = () => silence.abort();
    let timer = setTimeout(guarded(giveUp, giveUp), SILENCE_MS);
    const lines = createLines({ longest: longestLine });
    try {
      await commands.run([python, '-I', '-S', worker, '--follow'], {
        input: messages,
        signal: AbortSignal.any([closing.signal, silence.signal]),
        onBytes(bytes) {
          clearTimeout(timer);
          timer = setTimeout(guarded(giveUp, giveUp), SILENCE_MS);
          if (!lines.take(bytes, hear))
            throw new Error('The command that follows journals printed a line without end.');
        },
      });
    } finally {
      clearTimeout(timer);
      messages.end();
      messages = undefined;
    }
  }

  async function keepFollowing(): Promise<void> {
    if (going) return;
    going = true;
    for (let failures = 1; subscriptions.size > 0 && !closing.signal.aborted;) {
      const began = Date.now();
      await follow([...subscriptions][0]!.worker).catch(() => undefined);
      failures = Date.now() - began > PAUSES.longestPauseMs ? 1 : failures + 1;
      const pause = pauseAfter(failures, PAUSES);
      if (subscriptions.size > 0) await sleep(pause, undefined, { signal: closing.signal }).catch(() => undefined);
    }
    going = false;
  }

  return {
    follow(subscription) {
      subscriptions.add(subscription);
      if (messages) tell(subscription);
      else void keepFollowing();
      return {
        goOn() {
          if (full.delete(subscription)) tell(subscription);
        },
        stop() {
          subscriptions.delete(subscription);
          full.delete(subscription);
          messages?.write({ forget: subscription.folder });
          if (subscriptions.size === 0) messages?.end();
        },
      };
    },
    close: () => closing.abort(),
  };
}
