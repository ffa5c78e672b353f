/**
 * Passes a browser's call on to the API and the answer back, both as streams: nothing is collected on the way, an answer
 * may last as long as it likes, and it ends when the browser leaves. Node's own client, since fetch has time-outs of five
 * minutes that cannot be set and unpacks what is compressed.
 */
import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

import { answerHeaders } from './proxy-rules.ts';

const agents = { 'http:': new HttpAgent({ keepAlive: true }), 'https:': new HttpsAgent({ keepAlive: true }) };
const REFUSED_WITHIN_MS = 5000;
const WITHOUT_BODY = new Set([204, 205, 304]);

interface Call {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: ReadableStream<Uint8Array> | 'not sent' | null;
  signal: AbortSignal;
}

/**
 * Sends a body. An API may refuse before it has read everything; what is left then stays with the web server, which drops
 * it after the answer. Cancelling the body instead would cut the browser's connection, and the answer with it.
 */
async function upload(body: ReadableStream<Uint8Array>, request: ClientRequest): Promise<void> {
  const reader = body.getReader();
  let refused = false;
  request.once('response', () => (refused = !request.writableEnded));
  try {
    for (;;) {
      const { done, value } = await reader.read();
      // an answer that is there already is read before the next write can fail and hide it
      await setImmediate();
      if (refused || request.destroyed) return;
      if (done) return void request.end();
      if (!request.write(value)) await new Promise<void>((resolve) => onRoomOrEnd(request, resolve));
    }
  } catch (reason) {
    // the browser left, or the body is too large: whoever waits for the answer is told
    request.destroy(reason as Error);
  } finally {
    reader.releaseLock();
  }
}

function onRoomOrEnd(request: ClientRequest, goOn: () => void): void {
  const done = () => {
    request.off('drain', done);
    request.off('close', done);
    goOn();
  };
  request.once('drain', done);
  request.once('close', done);
}

function answerOf({ url, method, headers, body, signal }: Call): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { protocol } = new URL(url);
  const ask = protocol === 'https:' ? httpsRequest : httpRequest;
  const request = ask(url, { method, headers, signal, agent: agents[protocol as keyof typeof agents] });
  request.once('response', (answer) => {
    answer.once('close', () => request.writableEnded || request.destroy());
    resolve(answer);
  });
  // also after the answer has begun, when it only means that the rest of the body was not wanted
  request.on('error', reject);
  if (body === null) request.end();
  else if (body === 'not sent') request.flushHeaders();
  else void upload(body, request);
  return promise;
}

const wasCut = (reason: unknown) =>
  reason instanceof Error && ['ECONNRESET', 'EPIPE'].includes((reason as Error & { code?: string }).code ?? '');

/**
 * A connection that was cut may have had an answer. A kept one is closed in the very moment we use it again: a call
 * without body is repeated. An API that refuses a body closes while we still write, and the refusal gets lost: it is asked
 * once more with the headers alone, which cannot do anything but bring the refusal.
 */
async function askAgain(call: Call, reason: unknown): Promise<IncomingMessage> {
  if (!wasCut(reason) || call.signal.aborted) throw reason;
  if (call.body === null && call.method === 'GET') return answerOf(call);
  if (call.body === null) throw reason;
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(REFUSED_WITHIN_MS)]);
  return answerOf({ ...call, body: 'not sent', signal }).catch(() => {
    throw reason;
  });
}

export async function forward(call: Call): Promise<Response> {
  const answer = await answerOf(call).catch((reason: unknown) => askAgain(call, reason));
  const status = answer.statusCode ?? 502;
  const headers = answerHeaders(answer.rawHeaders);
  if (call.method === 'HEAD' || WITHOUT_BODY.has(status)) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  const stream = Readable.toWeb(answer) as ReadableStream<Uint8Array>;
  return new Response(stream, { status, headers });
}
