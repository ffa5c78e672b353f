/**
 * The accounts of requests, read for all that come at the same time with one question: every request asks, and a page sends
 * several at once.
 *
 * A question is never older than the request that it is for: who comes while one is under way waits for the next, which is
 * asked when the answer is there, or after a moment in which none came, so that a connection that hangs holds up nobody else.
 */
import { guarded } from '../guard.ts';
import { type ActiveUser, findActiveUsers, type Pool } from './store/users.ts';

const LONGEST_WAIT_MS = 20;

interface Question {
  ids: Set<number>;
  answer: Promise<Map<number, ActiveUser>>;
  ask(): void;
}

export function createActiveUsers(pool: Pool): (userId: number) => Promise<ActiveUser | undefined> {
  let next: Question | undefined;
  let underWay = 0;

  function newQuestion(): Question {
    const { promise: answer, resolve, reject } = Promise.withResolvers<Map<number, ActiveUser>>();
    const ids = new Set<number>();
    let timer: NodeJS.Timeout | undefined;
    const question: Question = {
      ids,
      answer,
      ask() {
        if (next !== question) return;
        next = undefined;
        clearTimeout(timer);
        underWay++;
        const answered = findActiveUsers(pool, [...ids]).finally(() => {
          underWay--;
          next?.ask();
        });
        resolve(answered);
      },
    };
    const fail = (error: Error) => {
      // nobody else may wait for a question that was never asked
      if (next === question) next = undefined;
      reject(error);
    };
    const guardedAsk = guarded(question.ask, fail);
    if (underWay === 0) setImmediate(guardedAsk);
    else timer = setTimeout(guardedAsk, LONGEST_WAIT_MS);
    return question;
  }

  return async (userId) => {
    next ??= newQuestion();
    next.ids.add(userId);
    return (await next.answer).get(userId);
  };
}
