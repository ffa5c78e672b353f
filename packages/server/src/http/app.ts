/**
 * The HTTP server without its operations: how bodies are read, how errors look, what is measured and logged.
 * Knows no domain.
 */
import multipart from '@fastify/multipart';
import { fastify, type FastifyInstance, type FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';

import type { Logging } from '../logging/index.ts';
import { NOT_KEPT } from './caching.ts';
import { closeUnusedConnections } from './closing.ts';
import { answerError, answerClientError } from './errors.ts';
import { clearUploads, parseUrlencoded } from './form-body.ts';
import { parseJsonBody } from './json-body.ts';
import { logRequests } from './request-log.ts';
import { limitRequests } from './time-limit.ts';

export interface AppOptions {
  logging: Logging;
  longRequestSeconds: number;
  /** Until an answer begins; 0 for no limit. */
  longestRequestSeconds: number;
  /** Until a request has arrived, with all of its body; 0 for no limit. */
  longestUploadSeconds: number;
  trustedProxies: string | null;
  largestUpload: number;
}

/** Long enough for every id and name in a path. */
const LONGEST_PARAMETER = 4096;

/** Who connects and says nothing holds a place that others want. */
const HEADERS_WITHIN_MS = 30_000;

const takesJson = (request: FastifyRequest) => {
  const body = request.routeOptions.config.operation?.body;
  return body !== undefined && !body.form;
};

/** A body of a kind that the operation does not read: it counts as a text, which no schema of an object takes. */
const UNREAD = 'unread';

function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.decorateRequest('doubtful', false);
  app.addContentTypeParser(/^application\/([\w.-]+\+)?json(;|$)/i, { parseAs: 'buffer' }, (request, bytes, done) => {
    if (!takesJson(request)) return done(null, undefined);
    const parsed = parseJsonBody(bytes as Buffer);
    if ('refusal' in parsed) return done(parsed.refusal as unknown as Error);
    request.doubtful = parsed.doubtful;
    done(null, parsed.value);
  });
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (request, bytes, done) => {
    if (request.routeOptions.config.operation?.body?.form) return done(null, parseUrlencoded(bytes as Buffer));
    done(null, takesJson(request) ? UNREAD : undefined);
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, bytes, done) => {
    done(null, takesJson(request) && bytes.length > 0 ? UNREAD : undefined);
  });
}

export function createApp(options: AppOptions): FastifyInstance {
  const app = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    trustProxy: options.trustedProxies ?? false,
    exposeHeadRoutes: false,
    keepAliveTimeout: 72_000,
    requestTimeout: Math.ceil(options.longestUploadSeconds * 1000),
    http: { headersTimeout: HEADERS_WITHIN_MS },
    forceCloseConnections: 'idle',
    clientErrorHandler: answerClientError,
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: LONGEST_PARAMETER,
      querystringParser: (text) => new URLSearchParams(text) as unknown as Record<string, unknown>,
    },
  });
  const log = options.logging.logger('http');
  readBodies(app);
  clearUploads(app);
  app.register(multipart, { limits: { fileSize: options.largestUpload, fields: 100, parts: 110 } });
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, log));
  app.setNotFoundHandler((_, reply) =>
    reply.code(404).header('content-type', 'application/json').send('{"detail":"Not Found"}'),
  );
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff', 'cache-control': NOT_KEPT });
    done();
  });
  // JSON is UTF-8 by definition; existing clients compare the type as it is.
  app.addHook('onSend', (_, reply, payload, done) => {
    if (reply.getHeader('content-type') === 'application/json; charset=utf-8')
      reply.header('content-type', 'application/json');
    done(null, payload);
  });
  logRequests(app, options);
  limitRequests(app, options.longestRequestSeconds, log);
  closeUnusedConnections(app);
  return app;
}
