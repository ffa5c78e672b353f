/**
 * Bodies stay where they are until somebody takes them (take.ts), whatever their type and wherever they are sent to. When
 * the answer is given before a body is read, the connection ends with it, unless so little is left that it does not matter.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';

import { guarded, ignored } from '../../guard.ts';

const LITTLE = 64 * 1024;

/** A connection that ends while its client still sends is reset, and the answer lost: so it ends a little later. */
const LINGER_MS = 5000;
/** What is left is thrown away meanwhile, for so many at a time. Beyond, it is a flood, and who floods needs no answer. */
const MOST_LINGERING = 64;

function leavesMuch({ raw }: FastifyRequest): boolean {
  if (raw.complete) return false;
  return raw.headers['transfer-encoding'] !== undefined || Number(raw.headers['content-length'] ?? 0) > LITTLE;
}

/** Ends the connections of bodies that are not read to their end. */
function createLingering() {
  let lingering = 0;
  return (raw: IncomingMessage): void => {
    const { socket } = raw;
    if (lingering >= MOST_LINGERING) return;
    lingering++;
    socket.once(
      'close',
      guarded(() => lingering--, ignored),
    );
    socket.destroySoon = () => {
      const timer = setTimeout(
        guarded(() => socket.destroy(), ignored),
        LINGER_MS,
      );
      socket.once(
        'close',
        guarded(() => clearTimeout(timer), ignored),
      );
      socket.end();
      raw.resume();
    };
  };
}

export function leaveBodies(app: FastifyInstance): void {
  const linger = createLingering();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_, __, done) => done(null));
  app.addHook('onSend', (request, reply, payload, done) => {
    if (leavesMuch(request)) {
      reply.header('connection', 'close');
      linger(request.raw);
    }
    done(null, payload);
  });
}
