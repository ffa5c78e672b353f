/**
 * Asks a worker of the page, which answers in any order. It starts with the first question, and again after it broke.
 *
 *     const ask = createAsker<Question>(() => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' }), {
 *       problemOf: ({ problem }) => new Error(problem),
 *       broken: () => new Error('The picture can’t be loaded.'),
 *     });
 *     const picture = await ask({ what: 'picture', address }, signal);
 */

/** What a worker is sent: a question, or that nobody waits for its answer any more. */
export type Message<Question> = { id: number; ask: Question } | { cancel: number };

/** What it answers. */
export type Reply<Problem extends { problem: string } = { problem: string }> =
  | { id: number; value: unknown }
  | ({ id: number } & Problem);

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

interface Errors<Problem> {
  problemOf: (problem: Problem) => Error;
  /** Of a worker that could not be loaded, or ended. */
  broken: () => Error;
}

export function createAsker<Question, Problem extends { problem: string } = { problem: string }>(
  start: () => Worker,
  { problemOf, broken }: Errors<Problem>,
): (question: Question, signal?: AbortSignal) => Promise<unknown> {
  let worker: Worker | undefined;
  let count = 0;
  const waiting = new Map<number, Waiting>();

  function startWorker(): Worker {
    const started = start();
    started.onmessage = ({ data }: MessageEvent<Reply<Problem>>) => {
      const asker = waiting.get(data.id);
      waiting.delete(data.id);
      if ('problem' in data) asker?.reject(problemOf(data));
      else asker?.resolve(data.value);
    };
    started.onerror = () => {
      for (const { reject } of waiting.values()) reject(broken());
      waiting.clear();
      worker = undefined;
    };
    return started;
  }

  return (question, signal) => {
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    worker ??= startWorker();
    const id = ++count;
    const post = (message: Message<Question>) => worker?.postMessage(message);
    const reply = new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
    signal?.addEventListener('abort', () => waiting.has(id) && post({ cancel: id }), { once: true });
    post({ id, ask: question });
    return reply;
  };
}
