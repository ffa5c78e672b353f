/** The two requests of a sign-in with an external account. They exist only where a provider is set up. */
import { accounts } from '@service/contract';

import type { Database } from '../../db/index.ts';
import { type Api, refuse } from '../../http/index.ts';
import type { Logger } from '../../logging/index.ts';
import type { Mailer } from '../../mail/index.ts';
import type { OAuthSettings, Settings } from '../../settings/index.ts';
import { createAsking } from '../oauth/asking.ts';
import type { Provider } from '../oauth/provider.ts';
import { accountOf, createSignupNotice } from '../oauth/sign-in.ts';
import { createStateKeeper, STATE_COOKIE, STATE_SECONDS } from '../oauth/state.ts';
import { cookieOf, LOGIN_COOKIE } from '../sign-in.ts';
import type { Tokens } from '../tokens.ts';

export interface OAuthParts {
  db: Database;
  tokens: Tokens;
  mailer: Mailer;
  log: Logger;
  app: Settings['app'];
  signIn: OAuthSettings;
  provider: Provider;
}

export function oauthRoutes(api: Api, { db, tokens, mailer, log, app, signIn, provider }: OAuthParts): void {
  const states = createStateKeeper(app.JWT_SECRET_KEY ?? '');
  const notice = createSignupNotice(mailer, log);
  const asking = createAsking();
  const redirectUri = (request: { protocol: string; host: string }) =>
    signIn.redirectUrl ?? `${request.protocol}://${request.host}/auth/${signIn.name}/callback/`;

  api.serveAnyone(accounts.oauthAuthorize(signIn.name), async ({ query, request, reply }) => {
    const { state, csrf, codeVerifier } = await states.begin();
    const authorization_url = await provider.authorizationUrl({
      redirectUri: redirectUri(request),
      state,
      scopes: query.scopes,
      codeVerifier,
    });
    reply.header(
      'set-cookie',
      `${STATE_COOKIE}=${csrf}; HttpOnly; Max-Age=${STATE_SECONDS}; Path=/; SameSite=lax; Secure`,
    );
    return { authorization_url };
  });

  api.serveAnyone(accounts.oauthCallback(signIn.name), async ({ query, request, reply }) => {
    if (query.error || !query.code) throw refuse(400, query.error || undefined);
    const checked = await states.finish(query.state, cookieOf(request.headers, STATE_COOKIE));
    if ('problem' in checked) throw refuse(400, checked.problem);
    const answer = {
      redirectUri: redirectUri(request),
      search: request.query as URLSearchParams,
      codeVerifier: query.code_verifier ?? checked.codeVerifier,
    };
    const failed = (what: string) => (error: Error) => {
      log.error(`The provider ${signIn.name} could not be asked for ${what}`, error);
      throw refuse(500, `The sign-in provider could not be asked for ${what}. Sign in again, or ask an administrator.`);
    };
    const options = { helpUrl: app.SERVICE_HELP_URL, notice, log, address: request.ip };
    const account = await asking.inTurn({ address: request.ip, isGone: () => reply.raw.destroyed }, async () => {
      const accessToken = await provider.exchange(answer).catch(failed('a token'));
      const external = await provider.account(accessToken).catch(failed('your account'));
      return accountOf(db, external, options);
    });
    const token = await tokens.issue(account.id, app.COOKIE_EXPIRE_SECONDS, account);
    reply.header('set-cookie', `${LOGIN_COOKIE}=${token}; HttpOnly; Path=/; SameSite=none; Secure`);
  });
}
