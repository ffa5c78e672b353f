/**
 * Something to show beside a page, asked for in the browser: the page does not wait for it. The same question in other
 * objects is not asked again, an answer to an older question does not count, and what is shown stays until the next is there.
 * A service that is busy or away is asked again, ever less often, for as long as the question stands.
 *
 *     const plate = createAnswer(() => ({ place, task, version }), (question, options) => call('…', …, options));
 *     {plate.value?.groups} {plate.problem} {plate.busy}
 */
import { untrack } from 'svelte';

import type { CallOptions } from '../api/client.ts';
import { ApiProblem } from '../api/problem.ts';
import { writeJson } from '../json.ts';

export interface Answered<Q, A> {
  readonly value: A | undefined;
  /** The question that the value answers. */
  readonly of: Q | undefined;
  readonly problem: string | undefined;
  readonly busy: boolean;
}

/** No answer, too many questions, too busy: the same question may be answered a little later. */
const PASSING = new Set([0, 429, 502, 503, 504]);
const FIRST_PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 30_000;
const isPassing = (error: unknown) => error instanceof ApiProblem && PASSING.has(error.status);

/** Call it while a component is made. Undefined is no question: what was answered is forgotten. */
export function createAnswer<Q, A>(
  question: () => Q | undefined,
  ask: (question: Q, options: CallOptions) => Promise<A>,
): Answered<Q, A> {
  let answer = $state.raw<{ of: Q; value: A }>();
  let problem = $state<string>();
  let busy = $state(false);
  const text = $derived.by(() => {
    const asked = question();
    return asked === undefined ? undefined : writeJson(asked);
  });

  $effect(() => {
    const asked = text === undefined ? undefined : untrack(question);
    if (asked === undefined) {
      [answer, problem, busy] = [undefined, undefined, false];
      return undefined;
    }
    const controller = new AbortController();
    const { signal } = controller;
    let timer: ReturnType<typeof setTimeout> | undefined;
    busy = true;
    const tryAgain = (pauseMs: number) => {
      timer = setTimeout(() => askOnce(Math.min(2 * pauseMs, LONGEST_PAUSE_MS)), pauseMs);
    };
    const askOnce = (pauseMs: number) =>
      void ask(asked, { signal, quiet: true }).then(
        (value) => {
          if (!signal.aborted) [answer, problem, busy] = [{ of: asked, value }, undefined, false];
        },
        (error: unknown) => {
          if (signal.aborted) return;
          [problem, busy] = [error instanceof ApiProblem ? error.message : String(error), false];
          if (isPassing(error)) tryAgain(pauseMs);
        },
      );
    askOnce(FIRST_PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  });

  return {
    get value() {
      return answer?.value;
    },
    get of() {
      return answer?.of;
    },
    get problem() {
      return problem;
    },
    get busy() {
      return busy;
    },
  };
}
