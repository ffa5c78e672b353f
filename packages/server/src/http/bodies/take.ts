/**
 * Takes the body of a request, as much of it as the caller may send. It is called when it is known who calls.
 *
 * Who may do what is asked has the limits of the settings. Who may not is told so. A short body is parsed before, since
 * clients know that wrong JSON is answered before a missing token; a longer one is read to its end, so that the answer
 * arrives, and one that is still longer is not read.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { type BodySize, type Operation, type Outcome, parseJson, readBody } from '@service/contract';

import { createPersonLimit } from '../person-limit.ts';
import { refuse, Refusal } from '../refusal.ts';
import { closeFiles, LARGEST_FIELDS, parseMultipart, parseUrlencoded } from './forms.ts';
import { packed, parseBytes, readJson, syntaxProblem } from './json.ts';
import { removeNames } from './nameless-file.ts';
import type { Pack, Packed, Packs } from './pack.ts';
import { type Slots, receive, type Rules, SHORT } from './receive.ts';
import { jsonScanner } from './scan.ts';
import { refusalOf } from './thread.ts';
import { createReadingThreads, type ReadingThreads } from './threads.ts';

const KILOBYTE = 1024;
/** For operations that need no token. Sign-in forms have a few hundred bytes. */
const LARGEST_OF_ANYONE = SHORT;
/** Where a token is needed and there is none, or one that does not suffice. */
const LARGEST_OF_STRANGERS = 1024 * KILOBYTE;
/** So many of both are read at a time, and for so long. */
const STRANGERS_AT_ONCE = 64;
const STRANGERS_MS = 30_000;

/** Of one person: each may lie on the disk for as long as it takes to arrive and to be read. */
const LARGE = 1024 * KILOBYTE;
const LARGE_AT_ONCE = 32;

/** What becomes objects in the thread that answers everybody; JSON.parse alone takes a tenth of a second for these. */
const MOST_ORDINARY_VALUES = 250_000;

export interface BodyOptions {
  limits: Record<BodySize, number>;
  /** For bodies with images. */
  mostValues: number;
  /** Long bodies and uploads lie here while their request runs. */
  folder: string;
  /** The program of the threads that read long bodies. */
  thread: URL;
  packs: Packs;
}

interface Taken {
  body: Outcome<Packed>;
  /** To be called when the request is over: files that came with it go. */
  release(): Promise<void>;
}

export interface Bodies {
  /** `problem` is what keeps the caller from what is asked, if anything does. */
  take(
    operation: Operation,
    request: FastifyRequest,
    person: number | undefined,
    problem: Refusal | undefined,
  ): Promise<Taken>;
  /** Whether the threads make the same of the bodies of an operation. */
  packsWith(operation: Operation, pack: Pack): boolean;
}

const JSON_TYPE = /^application\/([\w.-]+\+)?json(;|$)/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded(;|$)/i;

/** A body of a kind that the operation does not read: it counts as a text, which no schema of an object takes. */
const UNREAD = 'unread';

const sizeText = (bytes: number) =>
  bytes < 2 ** 20 ? `${Math.ceil(bytes / KILOBYTE)} KiB` : `${Math.floor(bytes / 2 ** 20)} MiB`;

const tooLarge = (limit: number) =>
  refuse(
    413,
    `The body is larger than the ${sizeText(limit)} allowed here. Send less, or ask an administrator for a larger limit.`,
    { connection: 'close' },
  );

const andClose = ({ status, body, headers }: Refusal) => new Refusal(status, body, { ...headers, connection: 'close' });

/** Not unpacked: a few kilobytes could become gigabytes. */
const packedBody = (encoding: string) =>
  refuse(415, `The body is compressed (${encoding}). Send it without compression.`, { connection: 'close' });

/** Of a body that comes in pieces nobody knows. */
const isLarge = ({ headers }: FastifyRequest) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > LARGE;

/** One at a time, with a turn for everybody else in between. */
function createOneAtATime() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => T): Promise<T> => {
    const done = last.then(() => nextTurn()).then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

export function createBodies(app: FastifyInstance, options: BodyOptions): Bodies {
  const threads: ReadingThreads = createReadingThreads(options.thread);
  app.addHook('onReady', () => removeNames(options.folder));
  app.addHook('onClose', () => threads.close());
  const slots: Slots = { left: STRANGERS_AT_ONCE };
  const oneAtATime = createOneAtATime();
  const largeUploads = createPersonLimit(LARGE_AT_ONCE, 'large uploads');

  function rulesFor(operation: Operation, problem: Refusal | undefined, usual: number): Rules {
    const bounded = { slots, withinMs: STRANGERS_MS };
    if (operation.access === 'anonymous') {
      const largest = Math.min(usual, LARGEST_OF_ANYONE);
      return { ...bounded, largest, tooLarge: tooLarge(largest) };
    }
    if (!problem) return { largest: usual, tooLarge: tooLarge(usual), folder: options.folder };
    return { ...bounded, largest: Math.min(usual, LARGEST_OF_STRANGERS), tooLarge: andClose(problem) };
  }

  async function readLong(
    operation: Operation,
    person: number,
    { file, length }: { file: { handle: { fd: number } }; length: number },
  ): Promise<Outcome<Packed>> {
    const { answer, more } = await threads.read(person, {
      operation: operation.id,
      fd: file.handle.fd,
      length,
      mostValues: MOST_ORDINARY_VALUES,
    });
    if ('refusal' in answer) throw refusalOf(answer.refusal);
    if ('entries' in answer) return answer;
    const { rest, texts } = answer;
    return {
      value: {
        rest: rest.length === 0 ? undefined : parseJson(Buffer.from(rest.buffer).toString('utf8')),
        texts,
        more,
      },
    };
  }

  async function takeJson(
    operation: Operation,
    request: FastifyRequest,
    person: number | undefined,
    problem: Refusal | undefined,
  ): Promise<Outcome<Packed>> {
    const size = operation.body!.size;
    const most = size === 'images' ? options.mostValues : Math.min(options.mostValues, MOST_ORDINARY_VALUES);
    // of a stranger's body only a short one is looked at, when it is there
    const look = problem ? undefined : jsonScanner(most);
    const rules = { ...rulesFor(operation, problem, options.limits[size]), look };
    return receive(request.raw, rules, async (received) => {
      if ('file' in received) return readLong(operation, person!, received);
      if ('dropped' in received) throw problem ?? rules.tooLarge;
      const { bytes } = received;
      if (problem) throw (await oneAtATime(() => syntaxProblem(bytes))) ?? problem;
      const reading = readJson(operation, parseBytes(bytes), options.packs[operation.id]);
      if ('refusal' in reading) throw reading.refusal;
      return reading;
    });
  }

  async function takeMultipart(
    operation: Operation,
    request: FastifyRequest,
    problem: Refusal | undefined,
  ): Promise<Taken> {
    if (problem) throw problem;
    const isUpload = operation.body!.size === 'upload';
    const usual = isUpload ? options.limits.upload : LARGEST_FIELDS;
    const { form, files } = await parseMultipart(request, {
      ...rulesFor(operation, problem, usual),
      folder: isUpload ? options.folder : undefined,
    });
    return { body: packed(readBody(operation, form), undefined), release: () => closeFiles(files) };
  }

  async function takeOther(
    operation: Operation,
    request: FastifyRequest,
    problem: Refusal | undefined,
    type: string,
  ): Promise<Outcome<Packed>> {
    const isForm = operation.body!.form && FORM_TYPE.test(type);
    const usual = isForm ? SHORT : options.limits.ordinary;
    const rules = { ...rulesFor(operation, problem, usual), folder: undefined };
    const input = await receive(request.raw, rules, (received) => {
      if (problem) throw problem;
      const bytes = 'bytes' in received ? received.bytes : undefined;
      if (operation.body!.form) return isForm && bytes ? parseUrlencoded(bytes) : {};
      return bytes?.length === 0 ? undefined : UNREAD;
    });
    return packed(readBody(operation, input), undefined);
  }

  function takeAny(
    operation: Operation,
    request: FastifyRequest,
    person: number | undefined,
    problem: Refusal | undefined,
  ): Promise<Taken> {
    const type = request.headers['content-type'] ?? '';
    if (operation.body!.form && request.isMultipart()) return takeMultipart(operation, request, problem);
    const taking =
      !operation.body!.form && JSON_TYPE.test(type)
        ? takeJson(operation, request, person, problem)
        : takeOther(operation, request, problem, type);
    return taking.then((body) => ({ body, release: () => Promise.resolve() }));
  }

  return {
    packsWith: (operation, pack) => options.packs[operation.id] === pack,
    async take(operation, request, person, problem) {
      if (!operation.body) {
        if (problem) throw problem;
        return { body: { value: { rest: undefined, texts: [], more: [] } }, release: () => Promise.resolve() };
      }
      const encoding = request.headers['content-encoding'] ?? 'identity';
      if (encoding !== 'identity') throw problem ?? packedBody(encoding.slice(0, 20));
      // strangers have slots of their own
      const leave = problem || person === undefined || !isLarge(request) ? () => undefined : largeUploads.take(person);
      try {
        const { body, release } = await takeAny(operation, request, person, problem);
        return { body, release: () => release().finally(leave) };
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}
