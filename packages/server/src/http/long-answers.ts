/**
 * How many answers that last a person has open at a time: event streams, downloads, exports. Pictures are not among them:
 * they are short, and have a line of their own.
 */
import type { Operation } from '@service/contract';

import { createPersonLimit } from './person-limit.ts';
import { onceClosed, Streamed } from './streamed.ts';

/** A browser has one for each page that shows a job, and a course may share an account. */
const MOST_EVENT_STREAMS = 256;
/** Each holds a piece of what is sent, up to some megabytes. */
const MOST_DOWNLOADS = 32;

export interface LongAnswers {
  /** Counts the answer as one of the person's until it is complete. Refuses where there are too many. */
  within<T>(operation: Operation, person: number | undefined, work: () => Promise<T>): Promise<T>;
}

export function createLongAnswers(): LongAnswers {
  const streams = createPersonLimit(MOST_EVENT_STREAMS, 'event streams');
  const downloads = createPersonLimit(MOST_DOWNLOADS, 'downloads');

  function limitFor({ answer: { mediaType }, file }: Operation) {
    if (mediaType === 'text/event-stream') return streams;
    return file && !mediaType.startsWith('image/') ? downloads : undefined;
  }

  return {
    async within(operation, person, work) {
      const leave = person === undefined ? undefined : limitFor(operation)?.take(person);
      if (!leave) return work();
      try {
        const answer = await work();
        if (answer instanceof Streamed) onceClosed(answer.body, leave);
        else leave();
        return answer;
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}
