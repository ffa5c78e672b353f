/**
 * Reads pictures beside the page. Unpacking takes time, and the codecs that images are packed with make functions while
 * they run, which the security policy of pages forbids; a worker has none of its own.
 */
import type { Message, Reply } from '../../ask-worker.ts';
import { readLabelsOf, readPicture } from './read.ts';

export interface Question {
  what: 'picture' | 'labels';
  address: string;
  /** How many pixels across it should have at least. */
  wide: number;
}

const LONGEST_MS = 30_000;
const READERS = { picture: readPicture, labels: readLabelsOf };

const answer = (reply: Reply) => self.postMessage(reply);

self.onmessage = ({ data }: MessageEvent<Message<Question>>) => {
  // a picture is kept for whoever asks next: what was begun is read to its end
  if ('cancel' in data) return;
  const { id, ask } = data;
  const { what, address, wide } = ask;
  READERS[what](address, wide, AbortSignal.timeout(LONGEST_MS)).then(
    (value) => answer({ id, value }),
    (error: unknown) => answer({ id, problem: error instanceof Error ? error.message : String(error) }),
  );
};
