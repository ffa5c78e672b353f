/**
 * Connections that keep a server from closing although nobody waits for an answer on them. Browsers open some in advance,
 * which Node does not count as idle before their first request; and those that become idle later are not looked at again.
 */
import type { FastifyInstance } from 'fastify';
import type { Socket } from 'node:net';

import { guarded } from '../guard.ts';

const LOOK_EVERY_MS = 100;

export function closeUnusedConnections(app: FastifyInstance): void {
  const open = new Set<Socket>();
  const failed = (error: Error) => app.log.error(error);
  const keep = (socket: Socket) => {
    open.add(socket);
    socket.once(
      'close',
      guarded(() => open.delete(socket), failed),
    );
  };
  app.server.on('connection', guarded(keep, failed));
  app.addHook('preClose', (done) => {
    if (!app.server.listening) return done();
    const look = () => {
      app.server.closeIdleConnections();
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    };
    const timer = setInterval(guarded(look, failed), LOOK_EVERY_MS);
    app.server.once(
      'close',
      guarded(() => clearInterval(timer), failed),
    );
    done();
  });
}
