/** What a command prints, handed on no faster than it is taken. */
import type { Readable } from 'node:stream';

import { guarded } from '../guard.ts';

/**
 * Hands the pieces of a stream to `take`, one after the other. A promise that `take` gives holds the stream back, and with it
 * who writes into it, until it is kept. After a failure, which is told once, the rest is dropped, so that the stream still
 * comes to its end. Gives back how to wait until everything is taken, for when the stream has ended.
 */
export function handOn<Piece extends Buffer | string>(
  stream: Readable,
  take: (piece: Piece) => Promise<void> | void,
  fails: (error: Error) => void,
): () => Promise<void> {
  /** What is being taken; undefined when nothing is. */
  let busy: Promise<void> | undefined;
  let failed = false;

  const fail = (error: Error) => {
    if (!failed) fails(error);
    failed = true;
  };

  function hold(taken: Promise<void>): void {
    stream.pause();
    const mine: Promise<void> = taken.catch(fail).then(() => {
      if (busy !== mine) return;
      busy = undefined;
      stream.resume();
    });
    busy = mine;
  }

  const onData = (piece: Piece) => {
    if (failed) return;
    // when a process ends, what is left of its output comes at once, whoever holds it back
    if (busy) return hold(busy.then(() => (failed ? undefined : take(piece))));
    const taken = take(piece);
    if (taken instanceof Promise) hold(taken);
  };
  stream.on('data', guarded(onData, fail));
  return () => busy ?? Promise.resolve();
}
