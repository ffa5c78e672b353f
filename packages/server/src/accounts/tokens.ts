/**
 * Tokens of sessions: signed, stateless, valid until they expire or the account's counter is raised. Three kinds that differ
 * in their lifetime: password login, login by an external account, impersonation, which also names the administrator.
 *
 *     { "sub": "7", "aud": ["fastapi-users:auth"], "exp": 1767225600, "gen": 2, "act": { "sub": "1", "gen": 5 } }
 *
 * A counter that is missing is 0, so that tokens of existing deployments stay valid until something happens to the account.
 */
import { jwtVerify, SignJWT } from 'jose';

const AUDIENCE = 'fastapi-users:auth';
const HEADER = { alg: 'HS256', typ: 'JWT' };
const REMEMBERED = 5000;

/** An account, and its counter when the token was issued. */
export interface Counted {
  id: number;
  generation: number;
}

interface Session extends Counted {
  /** The administrator who acts as this account. */
  actor?: Counted;
  /** In seconds. */
  expires: number;
}

export interface Tokens {
  /** A token for this account, valid for so many seconds. */
  issue(userId: number, seconds: number, claims: { generation: number; actor?: Counted | undefined }): Promise<string>;
  /** What a token says, if it is genuine and has not expired. Whether the counters still are these is for the caller. */
  read(token: string): Promise<Session | undefined>;
}

const counterClaim = (generation: number) => (generation === 0 ? {} : { gen: generation });

function readCounted(claim: unknown): Counted | undefined {
  const { sub, gen = 0 } = (claim ?? {}) as { sub?: unknown; gen?: unknown };
  if (typeof sub !== 'string' || !/^\d{1,10}$/.test(sub) || !Number.isSafeInteger(gen)) return undefined;
  return { id: Number(sub), generation: gen as number };
}

export function createTokens(secret: string): Tokens {
  const key = new TextEncoder().encode(secret);
  // A signature that was right stays right, so it is computed once a token and not once a request.
  const known = new Map<string, Session>();

  async function verify(token: string): Promise<Session | undefined> {
    try {
      const { payload } = await jwtVerify(token, key, { algorithms: ['HS256'], audience: AUDIENCE });
      const account = readCounted(payload);
      const actor = readCounted(payload['act']);
      if (!account || (payload['act'] !== undefined && !actor)) return undefined;
      return { ...account, ...(actor ? { actor } : {}), expires: payload.exp ?? Infinity };
    } catch {
      return undefined;
    }
  }

  return {
    issue: (userId, seconds, { generation, actor }) =>
      new SignJWT({
        ...counterClaim(generation),
        ...(actor ? { act: { sub: String(actor.id), ...counterClaim(actor.generation) } } : {}),
      })
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
      return found;
    },
  };
}
