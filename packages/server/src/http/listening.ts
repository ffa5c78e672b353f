/**
 * Clients that connect at once stand in a line of the system until the service takes them. Node asks for a line of 511: when
 * a thousand come together, as after a restart, the others are dropped and try again after 1, 3, 7, 15 and 31 seconds.
 */
import type { FastifyInstance } from 'fastify';

/** What Linux allows unless it was told otherwise (`net.core.somaxconn`); where it allows less, that holds. */
const LONGEST_LINE = 4096;

export const listenOn = (app: FastifyInstance, host: string, port: number): Promise<string> =>
  app.listen({ host, port, backlog: LONGEST_LINE });
