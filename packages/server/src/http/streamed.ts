/** Answers that take long, and how they end when the token they are given for has ended. */
import type { Readable, Writable } from 'node:stream';

import { guarded, ignored } from '../guard.ts';
import { refuse } from './refusal.ts';

/** An answer that is written while it is read, for what is too large to hold at once. */
export class Streamed {
  readonly body: Readable;
  readonly headers: Record<string, string>;
  /** Of a file: what changes with its content. Without it, it is not kept. */
  readonly tag: string | undefined;
  /** Ends it in good order. Without one it is broken off, so that nobody takes a part for the whole. */
  readonly end: (() => void) | undefined;

  constructor(
    body: Readable,
    headers: Record<string, string> = {},
    { tag, end }: { tag?: string | undefined; end?: () => void } = {},
  ) {
    this.body = body;
    this.headers = headers;
    this.tag = tag;
    this.end = end;
  }
}

/** Also of one that has closed already, which tells nobody any more. */
export function onceClosed(body: Readable | Writable, then: () => void): void {
  if (body.closed) then();
  else body.once('close', guarded(then, ignored));
}

/** Calls what it is given when a token has ended; gives back what lets go. */
type HoldOn = (end: () => void) => () => void;

/**
 * The answer to a request, unless its token ends before: then it is refused, and what its function still does is not
 * waited for. A stream is held on to until it closes; `cut` breaks it off.
 */
export async function whileTokenStands<T>(
  hold: HoldOn,
  work: () => Promise<T | Streamed> | T | Streamed,
  cut: () => void,
): Promise<T | Streamed> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  ended.catch(() => undefined);
  let isEnded = false;
  let end = () => reject(refuse(401));
  const release = hold(() => {
    isEnded = true;
    end();
  });
  const answered = Promise.resolve(work()).then((answer) => {
    if (!(answer instanceof Streamed)) return answer;
    if (isEnded) answer.body.destroy();
    end = answer.end ?? cut;
    onceClosed(answer.body, release);
    return answer;
  });
  try {
    const answer = await Promise.race([answered, ended]);
    if (!(answer instanceof Streamed)) release();
    return answer;
  } catch (error) {
    release();
    throw error;
  }
}
