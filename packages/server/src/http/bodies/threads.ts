/**
 * The threads that read long bodies, one for those of ordinary length and one for the longest, so that an import keeps
 * nobody else waiting. They start when they are needed and end when they have nothing to do. People take turns.
 */
import { ReadableStream, type ReadableStreamDefaultController } from 'node:stream/web';
import { Worker } from 'node:worker_threads';

import { guarded, ignored } from '../../guard.ts';
import { createPeopleInTurn } from '../../people-in-turn.ts';
import { refuse } from '../refusal.ts';
import type { LongBody, ThreadAnswer, ThreadMessage } from './thread.ts';

/** Beyond this a body waits for the thread of the longest ones. */
const LONG = 8 * 2 ** 20;
/** An import of a hundred thousand images needs half of it. Who needs more is refused. */
const MEMORY_MB = { ordinary: 96, long: 256 };
const YOUNG_MEMORY_MB = 16;
const LONGEST_READING_MS = 60_000;
/** The memory of a long body is given back soon. */
const IDLE_MS = { ordinary: 60_000, long: 2000 };

interface ReadByThread {
  answer: ThreadAnswer;
  /** The texts that follow. Nobody has to read them. */
  more: AsyncIterable<Uint8Array>;
}

/** Who waits for an answer, and then for what follows it. */
interface Waiting {
  body: LongBody;
  answer(answer: ThreadAnswer): void;
  text(text: Uint8Array): void;
  end(): void;
  fail(reason: unknown): void;
}

function createWaiting(body: LongBody): { waiting: Waiting; reading: Promise<ReadByThread> } {
  const { promise, resolve, reject } = Promise.withResolvers<ReadByThread>();
  let texts: ReadableStreamDefaultController<Uint8Array>;
  let wanted = true;
  const more = new ReadableStream<Uint8Array>({
    start: (controller) => void (texts = controller),
    cancel: () => void (wanted = false),
  });
  const ifWanted = (work: () => void) => (wanted ? work() : undefined);
  const waiting: Waiting = {
    body,
    answer: (answer) => resolve({ answer, more }),
    text: (text) => ifWanted(() => texts.enqueue(text)),
    end: () => ifWanted(() => texts.close()),
    fail: (reason) => {
      reject(reason);
      ifWanted(() => texts.error(reason));
    },
  };
  return { waiting, reading: promise };
}

const TOO_MUCH = () =>
  refuse(
    413,
    'Reading this body needs more memory or time than is allowed. Send it in parts, or ask an administrator.',
  );
const CLOSING = () => refuse(503, 'The service is stopping. Try again in a moment.', { 'retry-after': '5' });

interface Lane {
  read(person: number, body: LongBody): Promise<ReadByThread>;
  close(): Promise<void>;
}

function createLane(entry: URL, kind: 'ordinary' | 'long'): Lane {
  const queue = createPeopleInTurn<Waiting>();
  let worker: Worker | undefined;
  let current: Waiting | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function start(): Worker {
    const started = new Worker(entry, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB[kind], maxYoungGenerationSizeMb: YOUNG_MEMORY_MB },
    });
    started.unref();
    const lost = (reason: unknown) => {
      if (started !== worker) return;
      worker = undefined;
      settle((waiting) => waiting.fail(reason));
    };
    const onError = (error: NodeJS.ErrnoException) =>
      lost(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? TOO_MUCH() : error);
    const onMessage = (message: ThreadMessage) => {
      if (started !== worker) return;
      if ('answer' in message) current?.answer(message.answer);
      else if ('text' in message) current?.text(message.text);
      else settle((waiting) => ('end' in message ? waiting.end() : waiting.fail(new Error(message.failure))));
    };
    started.on('message', guarded(onMessage, lost));
    started.on('error', guarded(onError, lost));
    started.on(
      'exit',
      guarded(() => lost(new Error('A thread that reads bodies ended')), ignored),
    );
    return started;
  }

  function end(): Promise<unknown> {
    const ended = worker;
    worker = undefined;
    return ended?.terminate() ?? Promise.resolve();
  }

  function after(milliseconds: number, work: () => void): void {
    clearTimeout(timer);
    timer = setTimeout(guarded(work, ignored), milliseconds);
    timer.unref();
  }

  function settle(how: (waiting: Waiting) => void): void {
    const done = current;
    current = undefined;
    after(IDLE_MS[kind], () => void end());
    if (done) how(done);
    advance();
  }

  function advance(): void {
    if (current || closed) return;
    current = queue.next()?.one;
    if (!current) return;
    worker ??= start();
    after(LONGEST_READING_MS, () => {
      // its file is closed when the request is answered, so the thread has to be over by then
      void end().then(() => settle((waiting) => waiting.fail(TOO_MUCH())));
    });
    worker.postMessage(current.body);
  }

  return {
    read(person, body) {
      if (closed) return Promise.reject(CLOSING());
      const { waiting, reading } = createWaiting(body);
      queue.add(person, waiting);
      advance();
      return reading;
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await end();
      for (let left = current ?? queue.next()?.one; left; left = queue.next()?.one) left.fail(CLOSING());
    },
  };
}

export interface ReadingThreads {
  read(person: number, body: LongBody): Promise<ReadByThread>;
  close(): Promise<void>;
}

export function createReadingThreads(entry: URL): ReadingThreads {
  const ordinary = createLane(entry, 'ordinary');
  const long = createLane(entry, 'long');
  return {
    read: (person, body) => (body.length > LONG ? long : ordinary).read(person, body),
    async close() {
      await Promise.all([ordinary.close(), long.close()]);
    },
  };
}
