/** Standard input of a command, as fast as the command reads it. */
import type { Writable } from 'node:stream';

import { guarded } from '../guard.ts';
import type { RunOptions } from './host.ts';

async function* chunksOf(input: NonNullable<RunOptions['input']>): AsyncGenerator<Uint8Array> {
  if (typeof input === 'string') yield Buffer.from(input);
  else if (input instanceof Uint8Array) yield input;
  else yield* input;
}

/**
 * Writes `input` into `stdin` and closes it. Who ends early reads no more, which is their business: `closed` stops the
 * writing, and no error comes of it. An error of the source itself leaves `stdin` open, so that a half input is never
 * taken for a whole one, and is thrown.
 */
export async function feed(
  stdin: Writable,
  input: NonNullable<RunOptions['input']>,
  closed: AbortSignal,
): Promise<void> {
  let wake = () => {};
  const over = () => closed.aborted || stdin.destroyed;
  /** What `begin` waits for, or nothing as soon as nobody reads any more. */
  const orOver = <T>(begin: (resolve: (value?: T) => void, reject: (error: unknown) => void) => void) =>
    new Promise<T | undefined>((resolve, reject) => {
      wake = () => resolve(undefined);
      if (over()) wake();
      else begin(resolve, reject);
    });
  const hangUp = () => void stdin.destroy();
  stdin.on(
    'drain',
    guarded(() => wake(), hangUp),
  );
  stdin.on(
    'error',
    guarded(() => wake(), hangUp),
  );
  closed.addEventListener(
    'abort',
    guarded(() => wake(), hangUp),
    { once: true },
  );

  const chunks = chunksOf(input);
  while (!over()) {
    const next = await orOver<IteratorResult<Uint8Array>>(
      (resolve, reject) => void chunks.next().then(resolve, reject),
    );
    if (next === undefined) break;
    if (next.done) return void stdin.end();
    if (!stdin.write(next.value)) await orOver((resolve) => void (stdin.writableNeedDrain || resolve()));
  }
  // the source may be in the middle of something; it is told, not waited for
  void chunks.return(undefined).catch(() => undefined);
}
