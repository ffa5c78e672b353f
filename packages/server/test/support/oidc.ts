/**
 * A real OpenID Connect provider on the loopback, with a sign-in page, and a browser to use it.
 *
 *     const oidc = await startOidc();
 *     const service = await startService({ settings: oidc.settings });
 *     oidc.people.set('ada', { email: 'ada@example.org' });
 *     const answer = await signIn(service, oidc, 'ada');
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
// @ts-expect-error -- the package has no types
import Provider from 'oidc-provider';
// @ts-expect-error -- the package has no types; it uses this adapter itself, with a warning that only matters elsewhere
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js';
import { afterAll } from 'vitest';

import type { Answer, TestService } from './server.ts';

/** Where web clients let the provider send people; they pass the parameters on to the service. */
export const WEB_CLIENT_PAGE = 'https://web.example.org/auth/login/oauth2';
/** A redirect address may have parameters of its own. */
export const WEB_CLIENT_PAGE_WITH_QUERY = 'https://web.example.org/sign-in?from=service';

const NAME = 'Laboratory';
const CLIENT_ID = 'the service';
// The odd characters show that the secret is encoded as each way of sending it asks for.
const CLIENT_SECRET = 'a client secret: 100% & more+';
const SECONDS = 600;

/** The parts of the package that are used here. */
interface ProviderContext {
  oidc: {
    route?: string;
    client: { clientId: string };
    session: { accountId: string };
    requestParamOIDCScopes: Set<string>;
    provider: OidcProvider;
  };
  body: Record<string, unknown>;
}
interface Grant {
  addOIDCScope(scope: string): void;
  save(): Promise<unknown>;
}
interface OidcProvider {
  Grant: new (of: { clientId: string; accountId: string }) => Grant;
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  use(middleware: (context: ProviderContext, next: () => Promise<void>) => Promise<void>): void;
}

export interface OidcOptions {
  /** How clients prove who they are, in the order of the provider's description. The first with a secret is ours. */
  authMethods?: string[];
  /** False for a provider that does not say that it knows code challenges. */
  challenge?: boolean;
}

export interface Oidc {
  /** Settings of a service that uses this provider, by the names of their variables. */
  settings: Record<string, string>;
  clientId: string;
  issuer: string;
  /** The paths of the service's two operations for this provider. */
  authorize: string;
  callback: string;
  /** Claims of those who have an account with the provider, by its id. Addresses are confirmed unless told otherwise. */
  people: Map<string, Record<string, unknown>>;
  /** What was asked of the provider, such as `POST /token`. */
  requests: string[];
  /** How the service proved who it is, once for every code; the package itself takes either way for the other. */
  authMethodsUsed: string[];
  /** Follows an authorisation address as a browser, signs in, and gives back where the provider sends the person. */
  visit(authorizationUrl: string, who: SignInForm): Promise<URL>;
  close(): Promise<void>;
}

/** What a person enters at the provider's page. */
type SignInForm = { login: string } | { deny: 'yes' };

const SIGN_IN_PAGE = '<form method="post"><input name="login"><button name="deny" value="yes">No</button></form>';

const signingKey = () => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
  use: 'sig',
});

function providerAt(issuer: string, people: Oidc['people'], options: Required<OidcOptions>): OidcProvider {
  const ours = options.authMethods.find((method) => method.startsWith('client_secret_'));
  const kinds = ['AccessToken', 'AuthorizationCode', 'IdToken', 'Interaction', 'Session', 'Grant'];
  const provider = new Provider(issuer, {
    adapter: createMemoryAdapter(),
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        // Loopback addresses of native applications match with every port, and ours is known only after the start.
        application_type: 'native',
        redirect_uris: [
          WEB_CLIENT_PAGE,
          WEB_CLIENT_PAGE_WITH_QUERY,
          `http://127.0.0.1/auth/${NAME.toLowerCase()}/callback/`,
        ],
        token_endpoint_auth_method: ours,
        id_token_signed_response_alg: 'ES256',
      },
    ],
    clientAuthMethods: options.authMethods,
    claims: { openid: ['sub'], email: ['email', 'email_verified', 'upn'] },
    cookies: { keys: ['a key for the cookies of the provider'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_: unknown, id: string) =>
      people.has(id)
        ? { accountId: id, claims: () => ({ sub: id, email_verified: true, ...people.get(id) }) }
        : undefined,
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/sign-in/${uid}` },
    jwks: { keys: [signingKey()] },
    // Whoever signs in agrees to everything that is asked for.
    async loadExistingGrant({ oidc }: ProviderContext) {
      const { clientId } = oidc.client;
      const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope([...oidc.requestParamOIDCScopes].join(' '));
      await grant.save();
      return grant;
    },
    pkce: { required: () => options.challenge },
    ttl: Object.fromEntries(kinds.map((kind) => [kind, SECONDS])),
  }) as OidcProvider;
  if (!options.challenge) {
    provider.use(async (context, next) => {
      await next();
      if (context.oidc?.route === 'discovery') delete context.body['code_challenge_methods_supported'];
    });
  }
  return provider;
}

async function answerSignIn(
  provider: OidcProvider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<unknown> {
  if (request.method === 'GET') return response.setHeader('content-type', 'text/html').end(SIGN_IN_PAGE);
  const form = new URLSearchParams(await text(request));
  const denied = { error: 'access_denied', error_description: 'The person said no.' };
  const result = form.has('deny') ? denied : { login: { accountId: form.get('login') }, consent: {} };
  return provider.interactionFinished(request, response, result);
}

export async function startOidc(given: OidcOptions = {}): Promise<Oidc> {
  const options = { authMethods: ['client_secret_basic', 'client_secret_post'], challenge: true, ...given };
  const people: Oidc['people'] = new Map();
  const requests: string[] = [];
  const authMethodsUsed: string[] = [];
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = providerAt(issuer, people, options);
  const answer = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url!, issuer);
    requests.push(`${request.method} ${pathname}`);
    if (pathname === '/token')
      authMethodsUsed.push(`client_secret_${request.headers.authorization ? 'basic' : 'post'}`);
    if (pathname.startsWith('/sign-in/')) void answerSignIn(provider, request, response);
    else answer(request, response);
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  afterAll(close);
  return {
    settings: {
      OAUTH_CLIENT_NAME: ` ${NAME} `,
      OAUTH_CLIENT_ID: CLIENT_ID,
      OAUTH_CLIENT_SECRET: CLIENT_SECRET,
      OAUTH_OIDC_CONFIG_ENDPOINT: `${issuer}/.well-known/openid-configuration`,
      OAUTH_REDIRECT_URL: WEB_CLIENT_PAGE,
    },
    clientId: CLIENT_ID,
    issuer,
    authorize: `/auth/${NAME.toLowerCase()}/authorize/`,
    callback: `/auth/${NAME.toLowerCase()}/callback/`,
    people,
    requests,
    authMethodsUsed,
    visit: (authorizationUrl, who) => visit(new URL(authorizationUrl), who),
    close,
  };
}

const MOST_PAGES = 10;

/** A browser: keeps cookies, follows redirects, fills in the form; ends where the provider's own pages end. */
async function visit(start: URL, who: SignInForm): Promise<URL> {
  const cookies = new Map<string, string>();
  let address = start;
  let form: URLSearchParams | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const response = await fetch(address, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form ? { method: 'POST', body: form } : {}),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
      cookies.set(name!, value!);
    }
    const body = await response.text();
    const location = response.headers.get('location');
    if (location === null && !body.includes('<form')) throw new Error(`${address.href}: ${response.status} ${body}`);
    if (location === null) {
      form = new URLSearchParams({ ...who });
      continue;
    }
    form = undefined;
    address = new URL(location, address);
    if (address.origin !== start.origin) return address;
  }
  throw new Error('The provider sends the browser around in circles.');
}

/** A sign-in that came back from the provider: what the browser now holds. */
export interface Returned {
  /** The parameters of the redirect address. */
  search: URLSearchParams;
  /** The cookie header of the browser. */
  cookie: string;
  authorizationUrl: string;
  redirect: URL;
}

/** The cookie of an answer as `name=value`, and its attributes. */
export function cookieIn(answer: Answer): { cookie: string; value: string; attributes: string[] } {
  const [cookie = '', ...attributes] = (answer.headers.getSetCookie()[0] ?? '').split('; ');
  return { cookie, value: cookie.slice(cookie.indexOf('=') + 1), attributes: attributes.sort() };
}

/** The first half of a sign-in: from the service to the provider and back again. */
export async function comeBack(
  { anyone }: Pick<TestService, 'anyone'>,
  oidc: Oidc,
  who: string | SignInForm,
  query = '',
): Promise<Returned> {
  const answer = await anyone.get(oidc.authorize + query);
  if (answer.status !== 200) throw new Error(`authorize: ${answer.status} ${answer.text}`);
  const authorizationUrl = answer.body.authorization_url as string;
  const redirect = await oidc.visit(authorizationUrl, typeof who === 'string' ? { login: who } : who);
  return { search: redirect.searchParams, cookie: cookieIn(answer).cookie, authorizationUrl, redirect };
}

/** The second half: the web client hands everything to the service. */
export const handIn = (
  { anyone }: Pick<TestService, 'anyone'>,
  oidc: Oidc,
  { search, cookie }: Pick<Returned, 'search' | 'cookie'>,
): Promise<Answer> => anyone.get(`${oidc.callback}?${search.toString()}`, cookie === '' ? {} : { headers: { cookie } });

/** A whole sign-in of one who has an account with the provider. */
export const signIn = async (service: Pick<TestService, 'anyone'>, oidc: Oidc, login: string): Promise<Answer> =>
  handIn(service, oidc, await comeBack(service, oidc, login));
