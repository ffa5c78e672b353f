/**
 * One stream of server-sent events: text out, a sign of life now and then. It says when its reader is slow; nobody has to
 * keep for it what it cannot take.
 */
import { Readable } from 'node:stream';

import { guarded, ignored } from '../../guard.ts';
import type { Event } from './feeds.ts';

export interface EventStream {
  body: Readable;
  /** The position that the reader has. */
  position: string | undefined;
  /** Has missed something, or has been told nothing yet. */
  behind: boolean;
  /** False while the reader has not taken what was written. */
  isReady(): boolean;
  write(text: string): void;
  end(): void;
}

export interface StreamOptions {
  /** What the reader says it has seen. */
  lastEventId: string | undefined;
  /** Asked with every sign of life: access can be taken away while a stream is open. */
  isAllowed(): Promise<boolean>;
}

const SIGN_OF_LIFE_MS = 15_000;
const RETRY_MS = 3000;
/** A reader that takes nothing any more cannot be ended kindly. */
const PATIENCE_MS = 1000;

/**
 * The position stands at the last event of a batch only: a reader that loses the connection in the middle of it asks for
 * the whole batch again.
 */
export function eventText(events: Event[], position: string): string {
  return events
    .map(({ event, data }, index) => {
      const id = index === events.length - 1 ? `id: ${position}\n` : '';
      return `${id}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    })
    .join('');
}

const isPosition = (text: string | undefined) => text !== undefined && /^\d{1,15}(\.\d{1,15})?$/.test(text);

export function openStream(options: StreamOptions, onClosed: (stream: EventStream) => void): EventStream {
  let ready = true;
  let ended = false;
  const body = new Readable({
    read() {
      ready = true;
    },
  });
  // whoever reads sees the stream break, and asks again
  const fail = (error: Error) => void body.destroy(error);
  const write = (text: string) => {
    if (text !== '' && !ended) ready = body.push(text);
  };
  const end = () => {
    if (ended) return;
    ended = true;
    body.push(null);
    setTimeout(
      guarded(() => body.destroy(), fail),
      PATIENCE_MS,
    ).unref();
  };
  const sayStillHere = () => {
    if (ready) write(': still here\n\n');
    options.isAllowed().then(
      (allowed) => allowed || end(),
      () => undefined,
    );
  };
  const alive = setInterval(guarded(sayStillHere, fail), SIGN_OF_LIFE_MS);
  const stream: EventStream = {
    body,
    position: isPosition(options.lastEventId) ? options.lastEventId : undefined,
    behind: true,
    isReady: () => ready,
    write,
    end,
  };
  const onClose = () => {
    ended = true;
    clearInterval(alive);
    onClosed(stream);
  };
  body.once('close', guarded(onClose, ignored));
  body.on('error', ignored);
  write(`retry: ${RETRY_MS}\n\n`);
  return stream;
}
