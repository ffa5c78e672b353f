/**
 * A STAND-IN for Google and GitHub, which cannot be reached from tests. It answers as their documentation says: the
 * authorisation page, the token endpoint, and the addresses that tell who somebody is. Nothing here proves that the real
 * ones still answer this way.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll } from 'vitest';

import type { Endpoints } from '../../src/accounts/oauth/provider.ts';

const CLIENT = { id: 'our id', secret: 'our secret & more' };

export interface BuiltInProviders {
  google: Endpoints;
  github: Endpoints;
  client: typeof CLIENT;
  /** What the addresses of accounts answer, by path; a path without an answer fails. */
  answers: Record<string, unknown>;
  /** The forms that the token endpoint got. */
  exchanges: Record<string, string>[];
  /** Signs in at an authorisation address, and gives back where the person is sent. */
  visit(authorizationUrl: string): Promise<URL>;
}

export async function startBuiltInProviders(): Promise<BuiltInProviders> {
  const answers: Record<string, unknown> = {};
  const exchanges: Record<string, string>[] = [];
  const codes = new Set<string>();
  const tokens = new Set<string>();
  const made = (known: Set<string>) => {
    const fresh = randomBytes(8).toString('hex');
    known.add(fresh);
    return fresh;
  };
  const json = (response: ServerResponse, status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

  function authorize({ searchParams }: URL, response: ServerResponse): void {
    const back = new URL(searchParams.get('redirect_uri')!);
    back.searchParams.set('code', made(codes));
    back.searchParams.set('state', searchParams.get('state')!);
    response.writeHead(302, { location: back.href }).end();
  }

  async function token(kind: 'google' | 'github', request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    exchanges.push(form);
    const known = form['client_id'] === CLIENT.id && form['client_secret'] === CLIENT.secret;
    if (!known || !codes.delete(form['code'] ?? '')) {
      // GitHub tells of failures with status 200.
      json(response, kind === 'github' ? 200 : 400, { error: 'bad_verification_code' });
      return;
    }
    const answer = { access_token: made(tokens), token_type: 'bearer', scope: 'some' };
    // GitHub answers a form unless JSON is asked for.
    if (kind === 'google' || request.headers.accept === 'application/json') json(response, 200, answer);
    else response.end(new URLSearchParams(answer).toString());
  }

  function account({ pathname, search }: URL, request: IncomingMessage, response: ServerResponse): void {
    const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const path = `${pathname.replace(/^\/api/, '')}${search}`;
    if (!tokens.has(bearer)) json(response, 401, { message: 'Bad credentials' });
    else if (answers[path] === undefined) json(response, 404, { message: 'Not Found' });
    else json(response, 200, answers[path]);
  }

  const server = createServer((request, response) => {
    const address = new URL(request.url!, 'http://127.0.0.1');
    if (address.pathname === '/authorize') authorize(address, response);
    else if (address.pathname === '/google/token') void token('google', request, response);
    else if (address.pathname === '/github/token') void token('github', request, response);
    else account(address, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    google: { authorize: `${url}/authorize`, token: `${url}/google/token`, api: `${url}/api` },
    github: { authorize: `${url}/authorize`, token: `${url}/github/token`, api: `${url}/api` },
    client: CLIENT,
    answers,
    exchanges,
    async visit(authorizationUrl) {
      const response = await fetch(authorizationUrl, { redirect: 'manual' });
      return new URL(response.headers.get('location')!);
    },
  };
}
