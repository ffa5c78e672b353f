/**
 * External accounts: where to send a person, and who came back.
 *
 * `google` and `github` are built in, since they have no common discovery of the account's e-mail address; any other name
 * is an OpenID Connect provider that describes itself.
 */
import * as openid from 'openid-client';

import { type OAuthSettings, SettingsError } from '../../settings/index.ts';
import { shortFetch, TIMEOUT_SECONDS } from './short-fetch.ts';

export interface ExternalAccount {
  /** `google`, `github`, or `openid` for every other provider. */
  oauth_name: string;
  account_id: string;
  account_email: string | undefined;
  /** The provider knows that the address is this person's; anybody can enter somebody else's. */
  confirmed: boolean;
}

interface AuthorizationRequest {
  redirectUri: string;
  state: string;
  scopes: string[] | undefined;
  /** A secret of this sign-in; its hash goes along, so that a stolen code is worth nothing. */
  codeVerifier: string;
}

interface CallbackAnswer {
  redirectUri: string;
  search: URLSearchParams;
  codeVerifier: string;
}

export interface Provider {
  authorizationUrl(request: AuthorizationRequest): Promise<string>;
  /** The access token for the code of a callback. */
  exchange(answer: CallbackAnswer): Promise<string>;
  account(accessToken: string): Promise<ExternalAccount>;
}

/** Where a built-in provider lives; tests point it to a stand-in. */
export interface Endpoints {
  authorize: string;
  token: string;
  api: string;
}

const GOOGLE: Endpoints = {
  authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
  token: 'https://oauth2.googleapis.com/token',
  api: 'https://people.googleapis.com/v1',
};
const GITHUB: Endpoints = {
  authorize: 'https://github.com/login/oauth/authorize',
  token: 'https://github.com/login/oauth/access_token',
  api: 'https://api.github.com',
};

async function fetchJson(url: string, init: RequestInit): Promise<unknown> {
  const response = await shortFetch(url, init);
  if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status}`);
  return response.json();
}

/** A provider whose account is read by a function of its own. */
function builtIn(
  settings: OAuthSettings,
  endpoints: Endpoints,
  defaultScopes: string[],
  readAccount: (get: (path: string) => Promise<unknown>) => Promise<ExternalAccount>,
): Provider {
  return {
    async authorizationUrl({ redirectUri, state, scopes }) {
      const url = new URL(endpoints.authorize);
      url.search = new URLSearchParams({
        response_type: 'code',
        client_id: settings.id,
        redirect_uri: redirectUri,
        state,
        scope: (scopes ?? defaultScopes).join(' '),
      }).toString();
      return url.href;
    },
    async exchange({ redirectUri, search }) {
      const answer = (await fetchJson(endpoints.token, {
        method: 'POST',
        headers: { accept: 'application/json' },
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          code: search.get('code') ?? '',
          redirect_uri: redirectUri,
          client_id: settings.id,
          client_secret: settings.secret,
        }),
      })) as { access_token?: string };
      if (typeof answer.access_token !== 'string') throw new Error('the provider gave no access token');
      return answer.access_token;
    },
    account: (accessToken) =>
      readAccount((path) =>
        fetchJson(`${endpoints.api}${path}`, {
          headers: { authorization: `Bearer ${accessToken}`, accept: 'application/json' },
        }),
      ),
  };
}

interface GooglePerson {
  resourceName: string;
  emailAddresses?: { value: string; metadata?: { primary?: boolean; verified?: boolean } }[];
}

const google = (settings: OAuthSettings, endpoints: Endpoints) =>
  builtIn(
    settings,
    endpoints,
    ['https://www.googleapis.com/auth/userinfo.profile', 'https://www.googleapis.com/auth/userinfo.email'],
    async (get) => {
      const person = (await get('/people/me?personFields=emailAddresses')) as GooglePerson;
      if (typeof person.resourceName !== 'string') throw new Error('the provider gave no account id');
      const primary = person.emailAddresses?.find((address) => address.metadata?.primary);
      return {
        oauth_name: 'google',
        account_id: person.resourceName,
        account_email: primary?.value,
        confirmed: primary?.metadata?.verified === true,
      };
    },
  );

interface GithubEmail {
  email: string;
  primary: boolean;
  verified?: boolean;
}

const github = (settings: OAuthSettings, endpoints: Endpoints) =>
  builtIn(settings, endpoints, ['user', 'user:email'], async (get) => {
    const user = (await get('/user')) as { id: number; email: string | null };
    if (typeof user.id !== 'number') throw new Error('the provider gave no account id');
    // the public address alone does not say whether it is confirmed; without the right to this list, none is
    const emails = (await get('/user/emails').catch(() => [])) as GithubEmail[];
    const confirmed = emails.filter((one) => one.verified === true);
    const chosen =
      confirmed.find((one) => one.email === user.email) ?? confirmed.find((one) => one.primary) ?? confirmed[0];
    return {
      oauth_name: 'github',
      account_id: String(user.id),
      account_email: chosen?.email ?? user.email ?? emails[0]?.email,
      confirmed: chosen !== undefined,
    };
  });

function clientAuthentication(metadata: openid.ServerMetadata, secret: string): openid.ClientAuth {
  const supported = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const first = supported.find((method) => method === 'client_secret_basic' || method === 'client_secret_post');
  return first === 'client_secret_post' ? openid.ClientSecretPost(secret) : openid.ClientSecretBasic(secret);
}

/** How a provider describes itself. Without that there is no sign-in, so it stops the start. */
async function discover(address: URL, clientId: string, insecure: boolean): Promise<openid.ServerMetadata> {
  try {
    const discovered = await openid.discovery(address, clientId, undefined, openid.None(), {
      timeout: TIMEOUT_SECONDS,
      [openid.customFetch]: shortFetch,
      ...(insecure ? { execute: [openid.allowInsecureRequests] } : {}),
    });
    return discovered.serverMetadata();
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : message;
    throw new SettingsError(
      `OAUTH_OIDC_CONFIG_ENDPOINT must be the discovery address of a provider that answers (${reason}).`,
      { cause: error },
    );
  }
}

/**
 * What the provider says of the address in the claim `email` holds for no other one. Where it says nothing, the operator may
 * know that nobody can enter an address there that is not their own.
 */
function isConfirmed(info: openid.UserInfoResponse, email: unknown, trusted: boolean): boolean {
  const isTheOne = typeof email === 'string' && info.email?.toLowerCase() === email.toLowerCase();
  const said: unknown = isTheOne ? info.email_verified : undefined;
  // some providers write it as a text
  return said === undefined || said === null ? trusted : said === true || said === 'true';
}

/** An OpenID Connect provider; its description is fetched now. */
async function openidConnect(settings: OAuthSettings): Promise<Provider> {
  const address = new URL(settings.discovery!);
  const insecure = address.protocol === 'http:';
  const metadata = await discover(address, settings.id, insecure);
  const authentication = clientAuthentication(metadata, settings.secret);
  const configuration = new openid.Configuration(metadata, settings.id, settings.secret, authentication);
  configuration.timeout = TIMEOUT_SECONDS;
  configuration[openid.customFetch] = shortFetch;
  if (insecure) openid.allowInsecureRequests(configuration);
  const withChallenge = metadata.code_challenge_methods_supported?.includes('S256') ?? false;
  return {
    async authorizationUrl({ redirectUri, state, scopes, codeVerifier }) {
      const challenge: Record<string, string> = withChallenge
        ? { code_challenge: await openid.calculatePKCECodeChallenge(codeVerifier), code_challenge_method: 'S256' }
        : {};
      const parameters = {
        response_type: 'code',
        redirect_uri: redirectUri,
        state,
        scope: (scopes ?? ['openid', 'email']).join(' '),
        ...challenge,
      };
      return openid.buildAuthorizationUrl(configuration, parameters).href;
    },
    async exchange({ redirectUri, search, codeVerifier }) {
      // Web clients may pass on only the parameters they know, so the issuer is compared when it is there.
      const issuer = search.get('iss') ?? metadata.issuer;
      if (issuer !== metadata.issuer) throw new Error('the code came from another provider');
      // The general grant, since the one for codes sends the redirect address without its own parameters.
      const answer = await openid.genericGrantRequest(configuration, 'authorization_code', {
        code: search.get('code') ?? '',
        redirect_uri: redirectUri,
        ...(withChallenge ? { code_verifier: codeVerifier } : {}),
      });
      return answer.access_token;
    },
    async account(accessToken) {
      const info = await openid.fetchUserInfo(configuration, accessToken, openid.skipSubjectCheck);
      const email = info[settings.emailClaim];
      return {
        oauth_name: 'openid',
        account_id: info.sub,
        account_email: typeof email === 'string' && email !== '' ? email : undefined,
        confirmed: isConfirmed(info, email, settings.trustEmail),
      };
    },
  };
}

export async function createProvider(settings: OAuthSettings, endpoints?: Endpoints): Promise<Provider> {
  if (settings.name === 'google') return google(settings, endpoints ?? GOOGLE);
  if (settings.name === 'github') return github(settings, endpoints ?? GITHUB);
  return openidConnect(settings);
}
