/** The state of a sign-in: signed, tied to a cookie of the browser that began it, used once, and gone after an hour. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

import { errors, jwtVerify, SignJWT } from 'jose';

const AUDIENCE = 'fastapi-users:oauth-state';
export const STATE_SECONDS = 3600;
/** Used ones that are remembered. Who makes us forget one gains little: codes are good for one time, too. */
const MOST_USED = 20_000;
/** The name existing clients use. */
export const STATE_COOKIE = 'fastapiusersoauthcsrf';

export interface StateKeeper {
  begin(): Promise<{ state: string; csrf: string; codeVerifier: string }>;
  /** The secret of a sign-in, for whoever asks first; or the code of what is wrong with its state. */
  finish(state: string | undefined, csrf: string | undefined): Promise<{ codeVerifier: string } | { problem: string }>;
}

function equal(one: string, other: string): boolean {
  const [ones, others] = [Buffer.from(one), Buffer.from(other)];
  return ones.length === others.length && timingSafeEqual(ones, others);
}

export function createStateKeeper(secret: string): StateKeeper {
  const key = new TextEncoder().encode(secret);
  const used = new Set<string>();
  const use = (csrf: string) => {
    used.add(csrf);
    if (used.size > MOST_USED) used.delete(used.values().next().value!);
  };
  // Derived, so that nothing has to be stored between the two requests.
  const codeVerifierOf = (csrf: string) =>
    createHmac('sha256', key).update(`code verifier ${csrf}`).digest('base64url');
  return {
    async begin() {
      const csrf = randomBytes(32).toString('base64url');
      const state = await new SignJWT({ csrftoken: csrf })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setAudience(AUDIENCE)
        .setExpirationTime(Math.floor(Date.now() / 1000) + STATE_SECONDS)
        .sign(key);
      return { state, csrf, codeVerifier: codeVerifierOf(csrf) };
    },
    async finish(state, csrf) {
      let expected: unknown;
      try {
        const { payload } = await jwtVerify(state ?? '', key, { algorithms: ['HS256'], audience: AUDIENCE });
        expected = payload['csrftoken'];
      } catch (error) {
        const expired = error instanceof errors.JWTExpired;
        return { problem: expired ? 'ACCESS_TOKEN_ALREADY_EXPIRED' : 'ACCESS_TOKEN_DECODE_ERROR' };
      }
      if (csrf === undefined || typeof expected !== 'string' || !equal(csrf, expected))
        return { problem: 'OAUTH_INVALID_STATE' };
      if (used.has(csrf)) return { problem: 'OAUTH_INVALID_STATE' };
      use(csrf);
      return { codeVerifier: codeVerifierOf(csrf) };
    },
  };
}
