/** Sessions and personal access tokens on the wire: signing in, acting as somebody else, making tokens, ending them all. */
import { setTimeout as sleep } from 'node:timers/promises';

import { accounts } from '@service/contract';

import { record } from '../../audit/index.ts';
import type { Database } from '../../db/index.ts';
import { type Acting, type Api, type Caller, invalid } from '../../http/index.ts';
import type { Settings } from '../../settings/index.ts';
import { createDevices } from '../devices.ts';
import { makeToken, revokeToken } from '../personal-tokens.ts';
import { signIn } from '../sign-in.ts';
import { listTokens } from '../store/tokens.ts';
import { generationOf } from '../store/users.ts';
import { createThrottle } from '../throttle.ts';
import type { Tokens } from '../tokens.ts';
import type { UnderWay } from '../under-way.ts';
import * as users from '../users.ts';

const IMPERSONATION_SECONDS = 7200;
/** Answered by a login, and shown again with the next. */
const DEVICE_HEADER = 'x-known-device';

export interface AccountParts {
  db: Database;
  tokens: Tokens;
  underWay: UnderWay;
  app: Settings['app'];
}

const bearer = (access_token: string) => ({ access_token, token_type: 'bearer' });

export function sessionRoutes(api: Api, { db, tokens, app }: AccountParts): void {
  if (app.SERVICE_DISABLE_BASIC_AUTH === 'false') {
    const throttle = createThrottle(sleep);
    const devices = createDevices(app.JWT_SECRET_KEY ?? '');
    api.serveAnyone(accounts.login, async ({ body, request, reply }) => {
      const name = body.username.toLowerCase();
      const device = await devices.read([request.headers[DEVICE_HEADER]].flat()[0], name);
      const { username, password } = body;
      const isGone = () => reply.raw.destroyed;
      const account = await signIn(db, throttle, { username, password, address: request.ip, device, isGone });
      reply.header(DEVICE_HEADER, await devices.note(name));
      return bearer(await tokens.issue(account.id, app.JWT_EXPIRE_SECONDS, account));
    });
  }
  api.serve(accounts.logout, () => undefined);

  const impersonate = async (by: Acting, { user: { id }, credential }: Caller, userId: number) => {
    const user = await users.readUser(db, userId);
    const generation = (await generationOf(db, user.id)) ?? 0;
    if (credential.kind !== 'session') throw new Error('impersonation is for sessions only');
    // written down first: a token is never given without
    await record(db, by, { action: 'user.impersonate', object: ['user', user.id, user.email] });
    // who impersonates from an impersonation is still the one who began
    const actor = credential.actor ?? { id, generation: credential.generation };
    return bearer(await tokens.issue(user.id, IMPERSONATION_SECONDS, { generation, actor }));
  };
  api.serve(accounts.impersonate, ({ by, caller, params }) => impersonate(by, caller, params.user_id));
  api.serve(accounts.impersonateByPost, ({ by, caller, query, body }) => {
    const userId = query.user_id ?? body?.user_id;
    if (userId === undefined) {
      throw invalid([
        { type: 'missing', loc: ['query', 'user_id'], msg: 'Say whose token you want: user_id is missing.' },
      ]);
    }
    return impersonate(by, caller, userId);
  });
}

export function tokenRoutes(api: Api, { db, app, underWay }: AccountParts): void {
  api.serve(accounts.listTokens, ({ user }) => listTokens(db, user.id));
  api.serve(accounts.createToken, ({ by, body, caller }) =>
    makeToken(db, by, caller, body, app.SERVICE_MAX_TOKEN_DAYS),
  );
  api.serve(accounts.revokeToken, async ({ by, params }) => {
    await revokeToken(db, by, params.token_id);
    underWay.look();
  });
  const signOutEverywhere = async (by: Acting, userId: number) => {
    await users.signOutEverywhere(db, by, userId);
    underWay.look();
  };
  api.serve(accounts.signOutEverywhere, ({ by, user }) => {
    users.checkChangesItself(user);
    return signOutEverywhere(by, user.id);
  });
  api.serve(accounts.signOutUserEverywhere, ({ by, params }) => signOutEverywhere(by, params.user_id));
}
