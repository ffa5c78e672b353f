/**
 * Every operation with every kind of token. Who calls is an administrator with a profile, whom nothing else stops: what
 * differs between two answers is the token alone. Ids are unknown and bodies left out, so that nothing is changed.
 */
import { beforeAll, describe, expect, it } from 'vitest';

import { accounts, jobs, type NeededScope, type Operation, projects, tasks, type TokenScope } from '@service/contract';

import { addProfile } from '../support/plates.ts';
import { type Answer, clientOf, startService, type TestService } from '../support/server.ts';

const OPERATIONS = [accounts, jobs, projects, tasks]
  .flatMap((area) => Object.values(area) as (Operation | (() => Operation))[])
  .filter((one): one is Operation => typeof one === 'object' && one.access !== 'anonymous');

const ALLOWED: Record<TokenScope, NeededScope[]> = {
  read: ['read'],
  run: ['read', 'run'],
  everything: ['read', 'run', 'everything'],
};
const SCOPES = Object.keys(ALLOWED) as TokenScope[];
/** Tokens that nobody may use any more. */
const ENDED = [
  'expired session',
  'session that was signed out',
  'session of a deactivated account',
  'expired token',
  'revoked token',
  'token of a deactivated account',
  'token of an account that was signed out',
  'token whose password an administrator set',
  'unknown token',
] as const;

type Kind = 'session' | TokenScope | (typeof ENDED)[number];

let service: TestService;
const held = new Map<Kind, string>();

const soon = () => new Date(Date.now() + 3_600_000).toISOString();

beforeAll(async () => {
  service = await startService({ background: false, settings: { SERVICE_ENABLE_TASK_GROUP_RESET: 'true' } });
  const profile_id = await addProfile(service);
  const administrator = () => service.person({ profile_id, patch: { is_superuser: true, is_verified: true } });

  const make = async (person: Awaited<ReturnType<typeof administrator>>, scope: TokenScope, name: string = scope) => {
    const request = { name, scope, timestamp_expires: soon() };
    const { status, body } = await person.client.post('/auth/current-user/token/', request);
    expect(status).toBe(201);
    return body as { id: number; token: string };
  };

  const person = await administrator();
  held.set('session', person.token);
  for (const scope of SCOPES) held.set(scope, (await make(person, scope)).token);

  const expired = await make(person, 'everything', 'expired');
  held.set('expired token', expired.token);
  await service.database.db
    .updateTable('personal_tokens')
    .set({ timestamp_expires: new Date(Date.now() - 1000).toISOString() })
    .where('id', '=', expired.id)
    .execute();
  const revoked = await make(person, 'everything', 'revoked');
  held.set('revoked token', revoked.token);
  expect((await person.client.delete(`/auth/current-user/token/${revoked.id}/`)).status).toBe(204);
  held.set('unknown token', `svc_${'x'.repeat(43)}`);
  const { createTokens } = await import('../../src/accounts/index.ts');
  held.set('expired session', await createTokens('a key for tests').issue(person.id, -10, { generation: 0 }));

  const signedOut = await administrator();
  held.set('session that was signed out', signedOut.token);
  held.set('token of an account that was signed out', (await make(signedOut, 'everything')).token);
  await signedOut.client.post('/auth/current-user/sign-out-everywhere/');

  const deactivated = await administrator();
  held.set('session of a deactivated account', deactivated.token);
  held.set('token of a deactivated account', (await make(deactivated, 'everything')).token);
  await service.admin.patch(`/auth/users/${deactivated.id}/`, { is_active: false });

  const reset = await administrator();
  held.set('token whose password an administrator set', (await make(reset, 'everything')).token);
  await service.admin.patch(`/auth/users/${reset.id}/`, { password: 'set-by-an-administrator' });
});

function call(kind: Kind, { method, path }: Operation, via: 'header' | 'cookie' = 'header'): Promise<Answer> {
  const url = path.replace(/\{\w+\}/g, '987654');
  const token = held.get(kind)!;
  if (via === 'header') return clientOf(service.url, token).raw(url, { method });
  return clientOf(service.url).raw(url, { method, headers: { cookie: `fastapiusersauth=${token}` } });
}

const rows = OPERATIONS.map((operation) => [operation.id, operation] as const);
/** It would end the session that all rows share; what it does is shown elsewhere. */
const shared = rows.filter(([id]) => id !== accounts.signOutEverywhere.id);

describe('the table of tokens', () => {
  it('has every operation that is bound', async () => {
    const { body } = await service.anyone.get('/openapi.json');
    const described = Object.values(
      body.paths as Record<string, Record<string, { operationId: string; security?: [] }>>,
    )
      .flatMap((methods) => Object.values(methods))
      .filter((one) => one.security !== undefined)
      .map((one) => one.operationId);
    expect(described.sort()).toEqual(OPERATIONS.map((one) => one.id).sort());
  });

  it.each(shared)('a session may %s', async (_, operation) => {
    const { status } = await call('session', operation);
    const forOwnersOnly = operation.path.endsWith('/guest/');
    expect(forOwnersOnly ? [401] : [401, 403]).not.toContain(status);
  });

  describe.each(SCOPES)('a token with the scope %s', (scope) => {
    it.each(rows)('%s', async (_, operation) => {
      const answer = await call(scope, operation);
      if (ALLOWED[scope].includes(operation.scope)) {
        const { status } = await call('session', operation);
        expect(answer.status).toBe(status);
        expect((await call(scope, operation, 'cookie')).status).toBe(status);
        return;
      }
      expect(answer.status).toBe(403);
      expect(answer.body.detail).toMatch(operation.scope === 'session' ? /Sign in/ : /Make one with the scope/);
      expect((await call(scope, operation, 'cookie')).status).toBe(403);
    });
  });

  describe.each(ENDED)('with a %s', (kind) => {
    it.each(rows)('%s is closed', async (_, operation) => {
      const answer = await call(kind, operation);
      expect([answer.status, answer.body]).toEqual([401, { detail: 'Unauthorized' }]);
    });
  });
});
