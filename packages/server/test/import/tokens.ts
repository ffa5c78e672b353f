/** Tokens as the existing server makes them. */
import { SignJWT } from 'jose';

import { SIGNING_KEY } from '../support/server.ts';

export const tokenOf = (id: number) =>
  new SignJWT({ aud: ['fastapi-users:auth'] })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(String(id))
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(SIGNING_KEY));
