/** Signing in with a password, and reading the token that a request carries. */
import type { IncomingHttpHeaders } from 'node:http';

import type { Database } from '../db/index.ts';
import { type Caller, refuse } from '../http/index.ts';
import { createActiveUsers } from './active-users.ts';
import { checkPassword, hashPassword, isOutdated } from './passwords.ts';
import { createPersonalTokens } from './personal-tokens.ts';
import * as store from './store/users.ts';
import type { From, Throttle } from './throttle.ts';
import type { Counted, Tokens } from './tokens.ts';
import { createGroupTurns, DISPLACED } from './turns.ts';

/** The name existing clients use. */
export const LOGIN_COOKIE = 'fastapiusersauth';

/**
 * Looking for accounts, before anybody is checked: all of a flood at once would wait for the database in the order in which
 * they came, and whoever came last behind all of them. Nobody is sent away, since it takes no time.
 */
const lookups = createGroupTurns(4, Infinity);

/** The account for an address and password. Wrong, unknown and inactive look the same from outside. */
export async function signIn(
  db: Database,
  throttle: Throttle,
  { username, password, ...from }: { username: string; password: string } & Omit<From, 'account'>,
): Promise<Counted> {
  const signedIn = await throttle.attempt({ ...from, account: username.toLowerCase() }, async (request) => {
    const account = await lookups.take(request, async () =>
      username.includes('\u0000') ? undefined : store.findCredentials(db, username),
    );
    if (account === DISPLACED) return DISPLACED;
    const right = await checkPassword(password, account?.hashed_password, request);
    if (right === DISPLACED) return DISPLACED;
    if (!right || !account?.is_active) return undefined;
    if (isOutdated(account.hashed_password)) await store.improveHash(db, account, await hashPassword(password));
    return { id: account.id, generation: account.token_generation };
  });
  if (signedIn === 'busy') {
    throw refuse(429, 'Too many attempts to sign in at the same time. Wait a few seconds and try again.', {
      'retry-after': '5',
    });
  }
  if (signedIn === undefined) throw refuse(400, 'LOGIN_BAD_CREDENTIALS');
  return signedIn;
}

/** One cookie of a header that may hold chunks without a value. */
export function cookieOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const chunks = (headers.cookie ?? '').split(';').map((chunk) => chunk.trim());
  return chunks.findLast((chunk) => chunk.startsWith(`${name}=`))?.slice(name.length + 1);
}

const bearerOf = (headers: IncomingHttpHeaders) => /^bearer\s+(.+)$/i.exec(headers.authorization ?? '')?.[1]?.trim();

/** A token for a new session of an account, begun inside the service. */
export async function beginSession(db: Database, tokens: Tokens, userId: number, seconds: number): Promise<string> {
  return tokens.issue(userId, seconds, { generation: (await store.generationOf(db, userId)) ?? 0 });
}

/** Goes on with a session whose tokens have all ended, the own one too: as headers, in the way that the old one came. */
export async function renewedSession(
  tokens: Tokens,
  { user, via, expires }: Caller,
  generation: number,
  protocol: string,
): Promise<Record<string, string>> {
  const token = await tokens.issue(user.id, Math.floor(expires - Date.now() / 1000), { generation });
  if (via === 'header') return { 'x-renewed-token': token };
  const secure = protocol === 'https' ? '; Secure' : '';
  const end = new Date(expires * 1000).toUTCString();
  return { 'set-cookie': `${LOGIN_COOKIE}=${token}; HttpOnly; Path=/; Expires=${end}; SameSite=lax${secure}` };
}

/** The caller of a request: the header is asked first, then the cookie. */
export function authenticator(tokens: Tokens, { db, pool }: { db: Database; pool: store.Pool }) {
  const personalCaller = createPersonalTokens({ db, pool });
  const activeUser = createActiveUsers(pool);

  /** Nobody who was signed out, and no longer than the administrator who acts as somebody may do so. */
  async function sessionCaller(token: string): Promise<Omit<Caller, 'via'> | undefined> {
    const session = await tokens.read(token);
    const account = session && (await activeUser(session.id));
    if (!account || account.generation !== session.generation) return undefined;
    const { actor, generation, expires } = session;
    const caller = { user: account.user, expires };
    if (!actor) return { ...caller, credential: { kind: 'session', generation } };
    const administrator = await activeUser(actor.id);
    if (!administrator?.user.is_superuser || administrator.generation !== actor.generation) return undefined;
    return { ...caller, actor: actor.id, credential: { kind: 'session', generation, actor } };
  }

  return async (headers: IncomingHttpHeaders): Promise<Caller | undefined> => {
    const sources = [
      ['header', bearerOf(headers)],
      ['cookie', cookieOf(headers, LOGIN_COOKIE)],
    ] as const;
    for (const [via, token] of sources) {
      const caller = token === undefined ? undefined : ((await sessionCaller(token)) ?? (await personalCaller(token)));
      if (caller) return { ...caller, via };
    }
    return undefined;
  };
}
