/**
 * Requests that are meant to do harm, and what others notice of them: shared by tests and benchmarks.
 *
 *     const others = await watch(url);
 *     await send(url, { path, chunks: repeated('1,', 120 * MB) });
 *     const longest = await others.end();
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

export const MB = 2 ** 20;

/** A text again and again, in pieces, until there are so many bytes. */
export function* repeated(text: string, bytes: number): Generator<Buffer> {
  const piece = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
  for (let left = bytes; left > 0; left -= piece.length) yield left < piece.length ? piece.subarray(0, left) : piece;
}

export interface Sent {
  path: string;
  method?: string;
  token?: string | undefined;
  headers?: Record<string, string>;
  chunks?: Iterable<Buffer | string>;
  /** Announces the length; otherwise the body is chunked. */
  length?: number;
}

export interface Heard {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** How much was taken before the answer came. */
  sent: number;
}

/** Sends a body until it ends or an answer comes. */
export async function send(
  url: string,
  { path, method = 'POST', token, headers, chunks = [], length }: Sent,
): Promise<Heard> {
  const request = httpRequest(url + path, {
    method,
    agent: false,
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': length }),
      ...headers,
    },
  });
  let answered = false;
  let sent = 0;
  const answer = new Promise<Heard>((resolve, reject) => {
    request.on('error', (error) => answered || reject(error));
    request.on('response', (response) => {
      answered = true;
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.once('close', () => resolve({ status: response.statusCode!, headers: response.headers, text, sent }));
    });
  });
  answer.catch(() => undefined);
  const over = answer.then(
    () => undefined,
    () => undefined,
  );
  for (const chunk of chunks) {
    if (answered || request.destroyed) break;
    sent += chunk.length;
    if (!request.write(chunk)) await Promise.race([once(request, 'drain').catch(() => undefined), over]);
    // an answer is heard between two pieces
    await nextTurn();
  }
  if (answered) request.destroy();
  else request.end();
  return answer;
}

export interface Watch {
  /** The longest time that somebody else waited for an answer, in milliseconds, beyond what the machine took for anything. */
  end(): Promise<number>;
}

/** Asks for a sign of life all the time, as somebody who has nothing to do with the attack: in a thread of its own. */
export async function watch(url: string): Promise<Watch> {
  const watcher = new Worker(new URL('./watcher.ts', import.meta.url), { workerData: url, execArgv: [] });
  await once(watcher, 'message');
  return {
    async end() {
      watcher.postMessage('end');
      const [longest] = (await once(watcher, 'message')) as [number];
      await watcher.terminate();
      return longest;
    },
  };
}

/** The largest memory that a process ever had, in bytes. */
export const peakMemoryOf = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;
