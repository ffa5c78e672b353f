/**
 * Whoever came over TLS once comes back over TLS, so that nobody on the way can offer plain http instead. Other names below
 * this host are not ours to decide about.
 */
import type { FastifyInstance } from 'fastify';

const ONE_YEAR = 'max-age=31536000';

/** Said only over TLS: a browser ignores it on plain http. */
export function stayOnTls(app: FastifyInstance, always: boolean): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (always || request.protocol === 'https') reply.header('strict-transport-security', ONE_YEAR);
    done(null, payload);
  });
}
