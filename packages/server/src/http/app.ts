/**
 * The HTTP server without its operations: how bodies are read, how errors look, what is measured and logged.
 * Knows no domain.
 */
import multipart from '@fastify/multipart';
import { fastify, type FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';

import type { Logging } from '../logging/index.ts';
import { leaveBodies } from './bodies/leave.ts';
import { closeUnusedConnections } from './closing.ts';
import { answerError, answerClientError } from './errors.ts';
import { logRequests } from './request-log.ts';

export interface AppOptions {
  logging: Logging;
  longRequestSeconds: number;
  trustedProxies: string | null;
}

/** Long enough for every id and name in a path. */
const LONGEST_PARAMETER = 4096;

export function createApp(options: AppOptions): FastifyInstance {
  const app = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    trustProxy: options.trustedProxies ?? false,
    exposeHeadRoutes: false,
    keepAliveTimeout: 72_000,
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
  leaveBodies(app);
  app.register(multipart);
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, log));
  app.setNotFoundHandler((_, reply) =>
    reply.code(404).header('content-type', 'application/json').send('{"detail":"Not Found"}'),
  );
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    done();
  });
  // JSON is UTF-8 by definition; existing clients compare the type as it is.
  app.addHook('onSend', (_, reply, payload, done) => {
    if (reply.getHeader('content-type') === 'application/json; charset=utf-8')
      reply.header('content-type', 'application/json');
    done(null, payload);
  });
  logRequests(app, options);
  closeUnusedConnections(app);
  return app;
}
