/**
 * The web client on the port of the API. Its requests are taken out of Fastify before it reads them: what is counted,
 * logged and waited for at the end stays the same, and bodies and streams are untouched.
 *
 * The client calls the API as it does when it stands alone, over HTTP, at our own address. That costs a fraction of a
 * millisecond and keeps one way for everything: streams, limits, checks.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { Handover } from '../../../web/src/lib/server/mounted.ts';
import type { Logger } from '../logging/index.ts';
import { isOfTheClient } from './paths.ts';

/** Names that the client's build knows, too. */
const HANDOVER = Symbol.for('service.web');
const PASS_HEADER = 'x-service-pass';
/** Written for each request, whatever a browser put into them. */
const SCHEME_HEADER = 'x-service-scheme';
const HOST_HEADER = 'x-service-host';
const ADDRESS_HEADER = 'x-service-address';
/** The name of the session cookie on the side of the API. */
const LOGIN_COOKIE = 'fastapiusersauth';

const NOT_YET = `<!doctype html><meta charset="utf-8"><title>Service</title>
<p>The web client is being built. This page opens by itself in about half a minute.</p>`;
const NOT_THERE = 'The web client is not available on this server. The API is described at /docs.';

type Handler = (request: IncomingMessage, response: ServerResponse, next: () => void) => Promise<void> | void;

interface Loaded extends NonNullable<Handover['client']> {
  handler: Handler;
}

export interface Mount {
  /** Loads the build; from now on pages are answered. Throws when the variables of the client are wrong. */
  load(build: string, variables: Record<string, string | undefined>): Promise<void>;
  /** There will be no pages. */
  giveUp(): void;
  /** Where people open it, when that is fixed. */
  origin(): string | undefined;
}

/** Where this process reaches itself. All addresses are no address to call; any one of them is. */
export function ownAddress({ address, port }: AddressInfo): string {
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[address] ?? address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** What Kit's handler reads while it is loaded. Afterwards the environment is as before: commands inherit it. */
async function withEnvironment<T>(variables: Record<string, string | undefined>, work: () => Promise<T>): Promise<T> {
  const before = { ...process.env };
  const set = (values: Record<string, string | undefined>, names: string[]) => {
    for (const name of names) {
      if (values[name] === undefined) delete process.env[name];
      else process.env[name] = values[name];
    }
  };
  set(variables, Object.keys(variables));
  try {
    return await work();
  } finally {
    set(before, Object.keys(variables));
  }
}

/** The session under the name that the API knows, where browsers have another. */
function renameCookie(request: FastifyRequest, name: string): void {
  const { headers } = request.raw;
  if (name === LOGIN_COOKIE) return;
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const found = pairs.findLast((pair) => pair.startsWith(`${name}=`));
  // of several the API takes the last one
  if (found !== undefined) headers.cookie = [...pairs, LOGIN_COOKIE + found.slice(name.length)].join('; ');
}

/** `others` are addresses that are neither the client's nor the API's. */
export function mountWeb(app: FastifyInstance, log: Logger, others: readonly string[]): Mount {
  const pass = randomBytes(24).toString('hex');
  let loaded: Loaded | 'not yet' | 'never' = 'not yet';

  /** A call of the client itself says for whom it is, and where people see the page that it is for. */
  function readPass(request: FastifyRequest): void {
    const { headers } = request.raw;
    if (headers[PASS_HEADER] !== pass) return;
    Object.defineProperties(request, {
      ip: { value: headers['x-forwarded-for'] },
      host: { value: headers['x-forwarded-host'] },
      protocol: { value: headers['x-forwarded-proto'] },
    });
  }

  function answerPage({ handler, headers, origin }: Loaded, request: FastifyRequest, response: ServerResponse): void {
    const fixed = origin === undefined ? undefined : new URL(origin);
    const { raw } = request;
    const scheme = fixed?.protocol.slice(0, -1) ?? request.protocol;
    raw.headers[SCHEME_HEADER] = scheme;
    raw.headers[HOST_HEADER] = fixed?.host ?? request.host;
    raw.headers[ADDRESS_HEADER] = request.ip;
    for (const [name, value] of Object.entries(headers(raw.url!, scheme === 'https'))) response.setHeader(name, value);
    const failed = (error?: unknown) => {
      if (error !== undefined) log.error(`${raw.method} of a page failed`, error);
      if (!response.headersSent) response.statusCode = error === undefined ? 404 : 500;
      response.end();
    };
    void Promise.resolve()
      .then(() => handler(raw, response, failed))
      .catch(failed);
  }

  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    if (!isOfTheClient(raw.method!, raw.url!, others)) {
      readPass(request);
      if (typeof loaded === 'object') renameCookie(request, loaded.sessionCookie);
      return done();
    }
    if (loaded === 'not yet')
      return void reply.code(503).headers({ 'retry-after': '5', refresh: '3' }).type('text/html').send(NOT_YET);
    if (loaded === 'never') return void reply.code(404).send({ detail: NOT_THERE });
    request.page = true;
    reply.hijack();
    answerPage(loaded, request, reply.raw);
  });

  return {
    async load(build, variables) {
      const handover: Handover = {
        log: { debug: (line) => log.debug(line), warn: (line) => log.warning(line), error: (line) => log.error(line) },
        pass,
        build,
      };
      (globalThis as Record<symbol, unknown>)[HANDOVER] = handover;
      const environment = {
        ...variables,
        SERVICE_SERVER_HOST: ownAddress(app.server.address() as AddressInfo),
        BODY_SIZE_LIMIT: variables['BODY_SIZE_LIMIT'] || 'Infinity',
        PROTOCOL_HEADER: SCHEME_HEADER,
        HOST_HEADER,
        PORT_HEADER: undefined,
        ADDRESS_HEADER,
      };
      const entry = pathToFileURL(join(build, 'handler.js')).href;
      const { handler } = await withEnvironment(environment, () => import(entry) as Promise<{ handler: Handler }>);
      if (handover.client === undefined) throw new Error('the build is not of this version. Run: npm run build:web');
      loaded = { ...handover.client, handler };
    },
    giveUp: () => (loaded = 'never'),
    origin: () => (typeof loaded === 'object' ? loaded.origin : undefined),
  };
}
