/**
 * No caller waits for ever, and none makes others wait: an answer begins within a limit, or says that it does not come. What
 * takes its time by nature has none: streams, files, and bodies that are imported or uploaded.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { guarded, ignored } from '../guard.ts';
import type { Logger } from '../logging/index.ts';
import { refuse } from './refusal.ts';

function mayTakeLong({ routeOptions }: FastifyRequest): boolean {
  const { operation } = routeOptions.config;
  if (operation === undefined) return false;
  const streams = operation.answer.mediaType === 'text/event-stream';
  return streams || operation.file || (operation.body?.size ?? 'ordinary') !== 'ordinary';
}

export function limitRequests(app: FastifyInstance, seconds: number, log: Logger): void {
  if (seconds <= 0) return;
  app.addHook('onRequest', (request, reply, done) => {
    if (mayTakeLong(request)) return done();
    const giveUp = () => {
      if (reply.sent || reply.raw.headersSent) return;
      const route = request.routeOptions.config.operation?.path ?? request.routeOptions.url ?? 'no route';
      log.warning(`${request.method} ${route} took longer than ${seconds} s, request ${request.id}`);
      // it may be the body that does not come: nothing more is read
      const headers = { connection: 'close', 'retry-after': '30' };
      const text = `This took longer than ${seconds} seconds. It may still be done: look before you repeat it.`;
      const { status, body } = refuse(503, text);
      void reply
        .code(status)
        .headers({ ...headers, 'content-type': 'application/json' })
        .send(JSON.stringify(body));
    };
    const failed = (error: Error) => log.error(`Request ${request.id} could not be given up`, error);
    const timer = setTimeout(guarded(giveUp, failed), seconds * 1000);
    reply.raw.once(
      'close',
      guarded(() => clearTimeout(timer), ignored),
    );
    done();
  });
}
