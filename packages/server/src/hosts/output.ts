/** What a command prints, handed on no faster than it is taken. */
import type { Readable } from 'node:stream';

import { guarded } from '../guard.ts';

/**
 * Hands each piece of a stream to `take`. A promise that `take` gives holds the stream back, and with it who writes into
 * it, until it is kept. After a failure, which is told once, the rest is dropped, so that the stream still comes to its end.
 */
export function handOn<Piece extends Buffer | string>(
  stream: Readable,
  take: (piece: Piece) => Promise<void> | void,
  fails: (error: Error) => void,
): void {
  let failed = false;
  const fail = (error: Error) => {
    if (!failed) fails(error);
    failed = true;
    stream.resume();
  };
  const onData = (piece: Piece) => {
    const taken = failed ? undefined : take(piece);
    if (!(taken instanceof Promise)) return undefined;
    stream.pause();
    return taken.then(() => void stream.resume());
  };
  stream.on('data', guarded(onData, fail));
}
