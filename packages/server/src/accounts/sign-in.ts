/** Signing in with a password, and reading the token that a request carries. */
import { decodeJwt } from 'jose';
import type { IncomingHttpHeaders } from 'node:http';

import type { User } from '@service/contract';

import type { Database } from '../db/index.ts';
import { type Caller, refuse } from '../http/index.ts';
import { checkPassword, hashPassword, isOutdated } from './passwords.ts';
import * as store from './store/users.ts';
import type { Throttle } from './throttle.ts';
import type { Tokens } from './tokens.ts';

/** The name existing clients use. */
export const LOGIN_COOKIE = 'fastapiusersauth';

/** The account for an address and password. Wrong, unknown and inactive look the same from outside. */
export async function signIn(
  db: Database,
  throttle: Throttle,
  { username, password, address }: { username: string; password: string; address: string },
): Promise<number> {
  const userId = await throttle.attempt(username.toLowerCase(), address, async () => {
    const account = username.includes('\u0000') ? undefined : await store.findCredentials(db, username);
    const right = await checkPassword(password, account?.hashed_password);
    if (!right || !account?.is_active) return undefined;
    if (isOutdated(account.hashed_password)) {
      await store.updateUser(db, account.id, { hashed_password: await hashPassword(password) });
    }
    return account.id;
  });
  if (userId === 'busy') {
    throw refuse(429, 'Too many failed attempts at the same time. Wait some seconds and try again.', {
      'retry-after': '5',
    });
  }
  if (userId === undefined) throw refuse(400, 'LOGIN_BAD_CREDENTIALS');
  return userId;
}

/** One cookie of a header that may hold chunks without a value. */
export function cookieOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const chunks = (headers.cookie ?? '').split(';').map((chunk) => chunk.trim());
  return chunks.findLast((chunk) => chunk.startsWith(`${name}=`))?.slice(name.length + 1);
}

const bearerOf = (headers: IncomingHttpHeaders) => /^bearer\s+(.+)$/i.exec(headers.authorization ?? '')?.[1]?.trim();

/** The caller of a request: the header is asked first, then the cookie. */
export function authenticator(tokens: Tokens, findActiveUser: (userId: number) => Promise<User | undefined>) {
  return async (headers: IncomingHttpHeaders): Promise<Caller | undefined> => {
    const sources = [
      ['header', bearerOf(headers)],
      ['cookie', cookieOf(headers, LOGIN_COOKIE)],
    ] as const;
    for (const [via, token] of sources) {
      const userId = token === undefined ? undefined : await tokens.read(token);
      const user = userId === undefined ? undefined : await findActiveUser(userId);
      if (user) return { user, via, expires: decodeJwt(token!).exp ?? Infinity };
    }
    return undefined;
  };
}
