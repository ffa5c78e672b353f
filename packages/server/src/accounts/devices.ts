/**
 * Browsers that somebody has signed in with. Attempts for one account from one address cannot be told apart; a browser that
 * shows a note from its last sign-in can, so that nobody at the same address stands in its way. The note is no token: it
 * opens nothing, and is good for the account it was given for only.
 */
import { jwtVerify, SignJWT } from 'jose';
import { randomUUID } from 'node:crypto';

const AUDIENCE = 'service:known-device';
const LIFETIME = '365 days';
const LONGEST = 2000;

export interface Devices {
  /** The note for a browser that has just signed in to this account. */
  note(account: string): Promise<string>;
  /** Which browser shows this note, if it is one for this account. */
  read(note: string | undefined, account: string): Promise<string | undefined>;
}

export function createDevices(secret: string): Devices {
  const key = new TextEncoder().encode(secret);
  return {
    note: (account) =>
      new SignJWT({ account })
        .setProtectedHeader({ alg: 'HS256' })
        .setJti(randomUUID())
        .setAudience(AUDIENCE)
        .setExpirationTime(LIFETIME)
        .sign(key),
    async read(note, account) {
      if (note === undefined || note.length > LONGEST) return undefined;
      try {
        const { payload } = await jwtVerify(note, key, { algorithms: ['HS256'], audience: AUDIENCE });
        return payload['account'] === account ? payload.jti : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
