/** What administrators see of an import afterwards. */
import { expect, it } from 'vitest';

import { clientOf, serve, startService } from '../support/server.ts';
import { PASSWORD } from '../support/existing-database.ts';
import { emptyTarget, existing, runImport } from './importing.ts';

const PATH = '/admin/v2/import/';

it('the report is shown to administrators alone: all tables, and of each rule the first rows', async () => {
  const from = await existing();
  const hashed_password = `$2b$12$${'x'.repeat(53)}`;
  await from.query(`insert into historyunit (history_run_id, has_warnings, status)
    select 1, false, 'submitted' from generate_series(1, 30)`);
  await from.add('user_oauth', { id: 7, email: 'nobody@example.org', profile_id: null, hashed_password });
  const target = await emptyTarget();
  const { app, url } = await serve(target, { background: false });
  try {
    await runImport(from, target, { files: true });
    const signIn = async (username: string) => {
      const body = new URLSearchParams({ username, password: PASSWORD });
      const answer = await clientOf(url).raw('/auth/token/login/', { method: 'POST', body });
      return clientOf(url, (answer.body as { access_token: string }).access_token);
    };
    expect((await clientOf(url).get(PATH)).status).toBe(401);
    expect((await (await signIn('ann@example.org')).get(PATH)).status).toBe(403);
    const { status, body } = await (await signIn('admin@example.org')).get(PATH);
    expect([status, body]).toEqual([
      200,
      [
        expect.objectContaining({
          source: expect.objectContaining({ database: from.name, revision: '3ddaf7271fc3' }) as unknown,
          files: expect.objectContaining({
            job_folders: expect.objectContaining({ missing: 1 }) as unknown,
          }) as unknown,
          settings: expect.arrayContaining(['SERVICE_RUNNER_BACKEND=local']) as unknown,
          rules: [
            expect.objectContaining({ rule: 'users.no-profile', changes: false, num: 1 }),
            { rule: 'units.unfinished', changes: true, num: 30, first: expect.any(Array) as unknown },
          ],
        }),
      ],
    ]);
    const { tables, rules } = body[0];
    expect(rules[1].first).toHaveLength(20);
    expect(tables).toHaveLength(22);
    expect(body[0]).not.toHaveProperty('dry_run');
  } finally {
    await app.close();
  }
});

it('a service that began empty has nothing to tell', async () => {
  const service = await startService({ background: false });
  const { status, body } = await service.admin.get(PATH);
  expect([status, body]).toEqual([200, []]);
});
