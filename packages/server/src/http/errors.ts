/** How errors look on the wire: always JSON with `detail`, never with internals. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';

import type { Logger } from '../logging/index.ts';
import { refuse, Refusal } from './refusal.ts';

interface Thrown {
  code?: string;
  statusCode?: number;
  message?: string;
}

/** What went wrong with the database; how that is known is its own business. */
type Failure = 'away' | 'conflict' | 'stale-plan' | 'too-slow' | 'too-long';

const FAILURES: Record<Failure, () => Refusal> = {
  away: () => refuse(503, 'The database does not answer. Try again in a moment.', { 'retry-after': '5' }),
  conflict: () =>
    refuse(503, 'Somebody changed the same at the same moment, so nothing was changed here. Try again.', {
      'retry-after': '1',
    }),
  // what was begun is undone
  'stale-plan': () => refuse(503, 'The service is being updated. Try again in a moment.', { 'retry-after': '1' }),
  'too-slow': () =>
    refuse(
      503,
      'The database took too long for this, so it was stopped and nothing was changed. Ask for less at a time, with filters or pages, or try again later.',
      { 'retry-after': '30' },
    ),
  // what an index holds are names and addresses
  'too-long': () => refuse(422, 'One of these texts is too long. Write it shorter.'),
};

const TEXTS: Record<string, string> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The Content-Type header cannot be read.',
  FST_ERR_BAD_URL: 'The address has a percent sign that encodes nothing.',
};

function asRefusal(thrown: unknown, failureOf: FailureOf): Refusal | undefined {
  if (thrown instanceof Refusal) return thrown;
  const failure = failureOf(thrown);
  if (failure !== undefined) return FAILURES[failure]();
  const { code = '', statusCode = 500, message = '' } = (thrown ?? {}) as Thrown;
  const text = TEXTS[code];
  if (text !== undefined) return refuse(400, text);
  return statusCode >= 400 && statusCode < 500 ? refuse(statusCode, message) : undefined;
}

export type FailureOf = (error: unknown) => Failure | undefined;

export interface ErrorParts {
  log: Logger;
  failureOf: FailureOf;
}

export function answerError(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { log, failureOf }: ErrorParts,
): void {
  const refusal = asRefusal(thrown, failureOf);
  if (!refusal || refusal.status >= 500) {
    const route = request.routeOptions.config.operation?.path ?? request.routeOptions.url ?? 'no route';
    log.error(
      `${request.method} ${route} failed, request ${request.id}`,
      thrown instanceof Refusal ? undefined : thrown,
    );
  }
  const { status, body, headers } =
    refusal ?? refuse(500, `Something went wrong on our side. Tell an administrator this request id: ${request.id}`);
  reply
    .code(status)
    .headers({ ...headers, 'content-type': 'application/json' })
    .send(JSON.stringify(body));
}

const CLIENT_ERRORS: Record<string, [status: string, text: string]> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'The address and the headers of the request are too long.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive.'],
};

/** What is not even HTTP never reaches a route; it is answered on the socket. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const [status, text] = CLIENT_ERRORS[error.code ?? ''] ?? ['400 Bad Request', 'This is not a valid HTTP request.'];
  const body = JSON.stringify({ detail: text });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
  );
}
