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

/** Errors of the connection to the database: the request may succeed in a moment. */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'ETIMEDOUT',
  '57P01',
  '57P02',
  '57P03',
  '53300',
]);

/** Cut by the time limit of a statement or of a transaction, which is then undone. */
const tookTooLong = () =>
  refuse(
    503,
    'The database took too long for this, so it was stopped and nothing was changed. Ask for less at a time, with filters or pages, or try again later.',
    { 'retry-after': '30' },
  );

const TEXTS: Record<string, () => Refusal> = {
  '57014': tookTooLong,
  '25P03': tookTooLong,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => refuse(400, 'The Content-Type header cannot be read.'),
  FST_ERR_BAD_URL: () => refuse(400, 'The address has a percent sign that encodes nothing.'),
};

function asRefusal(thrown: unknown): Refusal | undefined {
  if (thrown instanceof Refusal) return thrown;
  const { code = '', statusCode = 500, message = '' } = (thrown ?? {}) as Thrown;
  if (UNREACHABLE.has(code) || message === 'timeout exceeded when trying to connect') {
    return refuse(503, 'The database does not answer. Try again in a moment.', { 'retry-after': '5' });
  }
  // a table was changed in the midst of a transaction, which is undone
  if (code === '0A000' && message.startsWith('cached plan')) {
    return refuse(503, 'The service is being updated. Try again in a moment.', { 'retry-after': '1' });
  }
  // an index has a longest entry; what it holds are names and addresses
  if (code === '54000') return refuse(422, 'One of these texts is too long. Write it shorter.');
  const text = TEXTS[code];
  if (text) return text();
  return statusCode >= 400 && statusCode < 500 ? refuse(statusCode, message) : undefined;
}

export function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply, log: Logger): void {
  const refusal = asRefusal(thrown);
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
