/**
 * Takes in the bytes of a body as they arrive. A short one stays in memory, a long one goes to a file, so that a thousand
 * senders, slow or fast, cost no memory. Nothing beyond what is allowed is read.
 */
import type { IncomingMessage } from 'node:http';

import { guarded, ignored } from '../../guard.ts';
import { refuse, type Refusal } from '../refusal.ts';
import { type NamelessFile, openNamelessFile } from './nameless-file.ts';
import type { Look } from './scan.ts';

/** Up to here a body is read where it is; beyond, reading it could keep others waiting. */
export const SHORT = 64 * 1024;
/** So much goes to the file at a time. */
const PORTION = 256 * 1024;

/** A sender that falls silent for so long has gone. */
const SILENCE_MS = 60_000;

/** How many callers without rights may send at a time. A small body needs no slot, so that people can always sign in. */
export interface Slots {
  left: number;
}
const SMALL = 16 * 1024;

export interface Rules {
  largest: number;
  tooLarge: Refusal;
  /** Sees every piece, and may refuse the rest. */
  look?: Look | undefined;
  /** Where a long body goes. Without a folder it is read to its end and not kept. */
  folder?: string | undefined;
  slots?: Slots;
  /** The whole body has to be there within this time. */
  withinMs?: number;
}

export type Received = { bytes: Buffer } | { file: NamelessFile; length: number } | { dropped: number };

export const TOO_SLOW = () => refuse(408, 'The body took too long to arrive. Send it again.', { connection: 'close' });
export const BROKEN = () =>
  refuse(400, 'The body ended before it was complete. Send it again.', { connection: 'close' });
const BUSY = () =>
  refuse(429, 'Too many requests arrive at once. Try again in a moment.', { 'retry-after': '5', connection: 'close' });

/** The bytes so far, put together at once: kept apart, a million pieces of a byte each would take a hundred times the room. */
function createGathering(rules: Rules) {
  let buffer = Buffer.allocUnsafe(4096);
  let used = 0;
  let file: NamelessFile | undefined;
  let written = 0;
  let dropped = 0;

  function add(chunk: Buffer): void {
    if (rules.folder === undefined && used + dropped + chunk.length > SHORT) {
      dropped += used + chunk.length;
      used = 0;
      return;
    }
    const needed = used + chunk.length;
    if (needed > buffer.length) {
      const size = Math.max(needed, buffer.length * 2);
      const larger = Buffer.allocUnsafeSlow(size);
      buffer.copy(larger, 0, 0, used);
      buffer = larger;
    }
    chunk.copy(buffer, used);
    used = needed;
  }

  /** Moves what there is to the file; `add` has to wait for it. */
  async function store(): Promise<void> {
    file ??= await openNamelessFile(rules.folder!);
    for (let from = 0; from < used;) {
      const { bytesWritten } = await file.handle.write(buffer, from, used - from, written);
      from += bytesWritten;
      written += bytesWritten;
    }
    used = 0;
  }

  return {
    add,
    store,
    /** True when there is enough to be moved to the file. */
    isDue: () => rules.folder !== undefined && used >= PORTION,
    async finish(): Promise<Received> {
      if (dropped > 0) return { dropped };
      if (!file && used <= SHORT) return { bytes: buffer.subarray(0, used) };
      await store();
      return { file: file!, length: written };
    },
    async release(): Promise<void> {
      await file?.handle.close();
    },
  };
}

type Gathering = ReturnType<typeof createGathering>;

function gather(raw: IncomingMessage, rules: Rules, gathering: Gathering): Promise<void> {
  return new Promise((resolve, reject) => {
    let length = 0;
    let storing: Promise<void> | undefined;
    const guardedDelay = guarded(() => stop(TOO_SLOW()), reject);
    const silence = setTimeout(guardedDelay, SILENCE_MS);
    const deadline = rules.withinMs === undefined ? undefined : setTimeout(guardedDelay, rules.withinMs);

    function stop(refusal?: unknown): void {
      clearTimeout(silence);
      clearTimeout(deadline);
      raw.off('data', guardedData).off('end', guardedEnd).off('error', guardedBreak).off('close', guardedBreak);
      // an error that comes later concerns nobody, and must not end the process
      raw.on('error', ignored);
      if (refusal === undefined) return resolve();
      raw.pause();
      // what is being written has to be over before its file can be closed
      void (storing ?? Promise.resolve()).catch(() => undefined).then(() => reject(refusal));
    }

    function take(chunk: Buffer): void {
      length += chunk.length;
      if (length > rules.largest) throw rules.tooLarge;
      const refusal = rules.look?.(chunk);
      if (refusal) throw refusal;
      gathering.add(chunk);
    }

    function onData(chunk: Buffer): void {
      silence.refresh();
      try {
        take(chunk);
      } catch (refusal) {
        return stop(refusal);
      }
      if (!gathering.isDue()) return;
      raw.pause();
      storing = gathering.store();
      storing.then(() => raw.resume(), stop);
    }
    const guardedData = guarded(onData, reject);
    const guardedEnd = guarded(() => stop(), reject);
    const guardedBreak = guarded(() => stop(BROKEN()), reject);
    raw.on('data', guardedData).on('end', guardedEnd).on('error', guardedBreak).on('close', guardedBreak);
  });
}

/** Takes a slot, if this body needs one, and gives back how to leave it. */
export function takeSlot(
  { headers }: IncomingMessage,
  { slots, tooLarge }: Pick<Rules, 'slots' | 'tooLarge'>,
): () => void {
  const isSmall = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= SMALL;
  if (!slots || isSmall) return () => undefined;
  if (slots.left === 0) throw tooLarge.status === 413 ? BUSY() : tooLarge;
  slots.left--;
  return () => slots.left++;
}

/** Hands the body of a request to `use`, which has it as long as it runs. */
export async function receive<T>(
  raw: IncomingMessage,
  rules: Rules,
  use: (body: Received) => T | Promise<T>,
): Promise<T> {
  if (Number(raw.headers['content-length'] ?? 0) > rules.largest) throw rules.tooLarge;
  if (raw.destroyed) throw BROKEN();
  const leave = takeSlot(raw, rules);
  const gathering = createGathering(rules);
  try {
    await gather(raw, rules, gathering);
    return await use(await gathering.finish());
  } finally {
    leave();
    await gathering.release();
  }
}
