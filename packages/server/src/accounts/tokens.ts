/**
 * Tokens: signed, stateless, valid until they expire. Three kinds that differ only in their lifetime: password login,
 * login by an external account, impersonation.
 */
import { jwtVerify, SignJWT } from 'jose';

const AUDIENCE = 'fastapi-users:auth';
const HEADER = { alg: 'HS256', typ: 'JWT' };
const REMEMBERED = 5000;

export interface Tokens {
  /** A token for this account, valid for so many seconds. */
  issue(userId: number, seconds: number): Promise<string>;
  /** The account a token was issued for, if it is valid now. */
  read(token: string): Promise<number | undefined>;
}

interface Known {
  userId: number;
  expires: number;
}

export function createTokens(secret: string): Tokens {
  const key = new TextEncoder().encode(secret);
  // A signature that was right stays right, so it is computed once a token and not once a request.
  const known = new Map<string, Known>();

  async function verify(token: string): Promise<Known | undefined> {
    try {
      const { payload } = await jwtVerify(token, key, { algorithms: ['HS256'], audience: AUDIENCE });
      if (!/^\d{1,10}$/.test(payload.sub ?? '')) return undefined;
      return { userId: Number(payload.sub), expires: payload.exp ?? Infinity };
    } catch {
      return undefined;
    }
  }

  return {
    issue: (userId, seconds) =>
      new SignJWT()
        .setProtectedHeader(HEADER)
        .setSubject(String(userId))
        .setAudience([AUDIENCE])
        .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
        .sign(key),
    async read(token) {
      const found = known.get(token) ?? (await verify(token));
      if (!found) return undefined;
      if (found.expires * 1000 <= Date.now()) {
        known.delete(token);
        return undefined;
      }
      if (known.size >= REMEMBERED) known.delete(known.keys().next().value!);
      known.set(token, found);
      return found.userId;
    },
  };
}
