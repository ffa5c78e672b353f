/** What keeps an image from being shown, in words for people. */

export type ProblemKind =
  /** Not there, or where this service cannot see it. */
  'missing' | 'access' | 'unreadable' | 'connection';

export class ReadProblem extends Error {
  readonly kind: ProblemKind;

  constructor(kind: ProblemKind, words: string) {
    super(words);
    this.kind = kind;
  }
}

const CODECS = 'blosc, zstd, gzip, zlib and lz4';

/** What zarrita or the browser say, for people. */
export function problemOf(error: unknown, what: string): ReadProblem {
  if (error instanceof ReadProblem) return error;
  // what a codec says is behind what zarrita says
  const told = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const text = told instanceof Error ? told.message : String(told);
  const [, codec] = /unknown codec:? *"?([\w.-]+)/i.exec(text) ?? [];
  if (codec !== undefined)
    return new ReadProblem('unreadable', `${what} is compressed with ${codec}. This viewer reads ${CODECS}.`);
  if (error instanceof TypeError && /fetch|network/i.test(text))
    return new ReadProblem('connection', 'Can’t reach the image data service. Check your connection and try again.');
  return new ReadProblem('unreadable', `${what} can’t be read: ${text}`);
}
