/**
 * Passes a browser's call on to the API and the answer back, both as streams: nothing is collected on the way, an answer
 * may last as long as it likes, and it ends when the browser leaves. Node's own client, since fetch has time-outs of five
 * minutes that cannot be set and unpacks what is compressed.
 */
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { answerHeaders } from './proxy-rules.ts';

const agents = { 'http:': new HttpAgent({ keepAlive: true }), 'https:': new HttpsAgent({ keepAlive: true }) };
const WITHOUT_BODY = new Set([204, 205, 304]);

interface Call {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: ReadableStream<Uint8Array> | null;
  signal: AbortSignal;
}

/** An upload that failed on our side, such as one that is too large, is told from an API that stopped reading. */
function answerOf({ url, method, headers, body, signal }: Call): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { protocol } = new URL(url);
  const ask = protocol === 'https:' ? httpsRequest : httpRequest;
  const request = ask(url, { method, headers, signal, agent: agents[protocol as keyof typeof agents] });
  request.once('response', resolve);
  request.once('error', reject);
  if (body === null) {
    request.end();
  } else {
    const upload = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
    upload.once('error', reject);
    // the answer, or the error of the request, is what counts: an API may refuse before it has read everything
    pipeline(upload, request).catch(() => undefined);
  }
  return promise;
}

export async function forward(call: Call): Promise<Response> {
  const answer = await answerOf(call);
  const status = answer.statusCode ?? 502;
  const headers = answerHeaders(answer.rawHeaders);
  if (call.method === 'HEAD' || WITHOUT_BODY.has(status)) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  const stream = Readable.toWeb(answer) as ReadableStream<Uint8Array>;
  return new Response(stream, { status, headers });
}
