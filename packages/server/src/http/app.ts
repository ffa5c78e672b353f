/**
 * The HTTP server without its operations: how bodies are read, how errors look, what is measured and logged.
 * Knows no domain.
 */
import multipart from '@fastify/multipart';
import { fastify, type FastifyInstance, type FastifyReply } from 'fastify';
import { randomUUID } from 'node:crypto';

import type { Logging } from '../logging/index.ts';
import { leaveBodies } from './bodies/leave.ts';
import { NOT_KEPT } from './caching.ts';
import { closeUnusedConnections } from './closing.ts';
import { answerClientError, answerError, type FailureOf } from './errors.ts';
import { logRequests } from './request-log.ts';
import { limitRequests } from './time-limit.ts';
import { stayOnTls } from './tls.ts';

export interface AppOptions {
  logging: Logging;
  longRequestSeconds: number;
  /** Until an answer begins; 0 for no limit. */
  longestRequestSeconds: number;
  /** Until a request has arrived, with all of its body; 0 for no limit. */
  longestUploadSeconds: number;
  trustedProxies: string | null;
  /** What an error says about the database. */
  failureOf: FailureOf;
  /** People reach the service over TLS, whatever the last part of the way is. */
  overTls: boolean;
}

/** Long enough for every id and name in a path. */
const LONGEST_PARAMETER = 4096;

/** Who connects and says nothing holds a place that others want. */
const HEADERS_WITHIN_MS = 30_000;

export function createApp(options: AppOptions): FastifyInstance {
  const log = options.logging.logger('http');
  const errors = { log, failureOf: options.failureOf };
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
    frameworkErrors: (error, request, reply) => answerError(error, request, reply as unknown as FastifyReply, errors),
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: LONGEST_PARAMETER,
      querystringParser: (text) => new URLSearchParams(text) as unknown as Record<string, unknown>,
    },
  });
  leaveBodies(app);
  app.register(multipart);
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, errors));
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
  stayOnTls(app, options.overTls);
  logRequests(app, options);
  limitRequests(app, options.longestRequestSeconds, log);
  closeUnusedConnections(app);
  return app;
}
