/**
 * Image files over HTTP, for viewers, notebooks and Python tools: `GET <base>files/<absolute path>`. Existing tools know the
 * addresses and answers, so they are not part of the described API.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { type NotOpened, openInside } from '../folders/index.ts';
import { type Caller, callerProblem, createPersonLimit, onceClosed, refuse, type Refusal } from '../http/index.ts';
import { readAddress } from './address.ts';
import { answerFile } from './answer.ts';
import { crossOriginHeaders, PREFLIGHT } from './cross-origin.ts';
import { createObjectStores, type ObjectStores } from './object-store.ts';
import type { Reader, Readers } from './readers.ts';

export interface DataParts {
  /** With its slashes: `/data/`. */
  base: string;
  /** Other origins that may read. */
  origins: readonly string[];
  readers: Readers;
  /** Calls `end` when the token of a caller has ended; gives back what lets go. */
  hold(caller: Caller, end: () => void): () => void;
  version: string;
  objectStores?: ObjectStores;
}

const NO_ACCESS =
  'You have no access to this folder. You can read your project folders and the datasets of your projects.';

/** A link that leads out looks the same as one that leads to nothing. */
const REFUSALS: Record<NotOpened, Refusal> = {
  missing: refuse(404, 'There is no such file, or it is on a file system that this service does not see.'),
  outside: refuse(403, NO_ACCESS),
  folder: refuse(400, 'This is a folder. Ask for a file in it.'),
  special: refuse(403, 'This is neither a file nor a folder.'),
  denied: refuse(403, 'The service is not permitted to read this file. Ask its owner to make it readable.'),
};

/** A program on many nodes reads for one person. Each file that is sent takes a tenth of a megabyte of memory. */
const MOST_OF_ONE = 1000;

const OTHER_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'];

export function dataRoutes(app: FastifyInstance, { base, origins, readers, hold, version, ...parts }: DataParts): void {
  const openFiles = createPersonLimit(MOST_OF_ONE, 'files');
  const objectStores = parts.objectStores ?? createObjectStores();

  const alive = {
    alive: true,
    version,
    // existing tools read these
    fractal_server_alive: true,
    fractal_server_version: version,
  };

  async function readerOf(request: FastifyRequest): Promise<Reader> {
    const reader = await readers.read(request.headers);
    const problem = callerProblem({ access: 'verified', scope: 'read' }, reader?.caller);
    if (problem) throw problem;
    return reader!;
  }

  /** Lets go when all is sent, or the connection is gone. */
  function untilAnswered({ raw }: FastifyReply, letGo: (() => void)[]): void {
    const leave = () => letGo.forEach((one) => one());
    onceClosed(raw, leave);
  }

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { caller, folders } = await readerOf(request);
    const address = readAddress(base, request.raw.url!);
    if ('problem' in address) throw refuse(400, address.problem);
    const { path } = address;
    if (!folders.cover(path)) throw REFUSALS.outside;
    untilAnswered(reply, [openFiles.take(caller.user.id), hold(caller, () => reply.raw.destroy())]);
    if (path.startsWith('s3://')) return objectStores.answer(request, reply, path);
    const opened = await openInside(path, folders);
    if (typeof opened === 'string') throw REFUSALS[opened];
    return answerFile(request, reply, path, opened);
  }

  app.register((scope, _, done) => {
    scope.addHook('onRequest', (request, reply, next) => {
      reply.headers(crossOriginHeaders(origins, request.headers));
      next();
    });
    scope.route({
      method: ['GET', 'HEAD'],
      url: `${base}alive`,
      handler: (_request, reply) => reply.header('content-type', 'application/json').send(JSON.stringify(alive)),
    });
    for (const url of [`${base}files`, `${base}files/*`]) {
      scope.route({ method: ['GET', 'HEAD'], url, handler: answer });
      scope.route({ method: 'OPTIONS', url, handler: (_request, reply) => reply.code(204).headers(PREFLIGHT).send() });
      scope.route({
        method: OTHER_METHODS,
        url,
        onRequest: () => {
          throw refuse(405, 'Method Not Allowed', { allow: 'GET, HEAD, OPTIONS' });
        },
        handler: () => undefined,
      });
    }
    done();
  });
}

/** What changes something through the API makes everything that is kept about people forgotten, before it is answered. */
export function forgetOnChanges(app: FastifyInstance, { forget }: Pick<Readers, 'forget'>): void {
  app.addHook('onSend', (request, _, payload, done) => {
    const operation = request.routeOptions.config.operation;
    const reads = operation === undefined || operation.access === 'reader' || operation.access === 'anonymous';
    const changes = operation !== undefined && (operation.method !== 'GET' || operation.unsafeGet) && !reads;
    if (changes) forget();
    done(null, payload);
  });
}
