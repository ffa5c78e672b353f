/**
 * Bodies stay where they are until somebody takes them (take.ts), whatever their type and wherever they are sent to. When
 * the answer is given before a body is read, the connection ends with it, unless so little is left that it does not matter.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';

const LITTLE = 64 * 1024;

function leavesMuch({ raw }: FastifyRequest): boolean {
  if (raw.complete) return false;
  return raw.headers['transfer-encoding'] !== undefined || Number(raw.headers['content-length'] ?? 0) > LITTLE;
}

export function leaveBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_, __, done) => done(null));
  app.addHook('onSend', (request, reply, payload, done) => {
    if (leavesMuch(request)) reply.header('connection', 'close');
    done(null, payload);
  });
}
