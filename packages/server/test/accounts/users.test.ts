import { beforeAll, describe, expect, it } from 'vitest';

import { type Client, startService, type TestService } from '../support/server.ts';

let service: TestService;
let admin: Client;
let profileId: number;
let allGroup: number;

const RESOURCE = {
  type: 'local',
  name: 'Machine',
  jobs_local_dir: '/jobs',
  tasks_local_dir: '/tasks',
  jobs_runner_config: {},
  tasks_python_config: { default_version: '3.12', versions: { '3.12': '/usr/bin/python3.12' } },
  tasks_pixi_config: {},
};

beforeAll(async () => {
  service = await startService();
  ({ admin } = service);
  const resource = await admin.post('/admin/v2/resource/', RESOURCE);
  const profile = await admin.post(`/admin/v2/resource/${resource.body.id}/profile/`, {
    resource_type: 'local',
    name: 'Work',
  });
  profileId = profile.body.id;
  allGroup = (await admin.get('/auth/group/')).body[0].id;
});

const newUser = (fields: Record<string, unknown> = {}) => ({
  email: 'x@example.org',
  password: '1234',
  project_dirs: ['/a'],
  ...fields,
});

describe('registration', () => {
  it('creates an account, ignoring flags that only a second request may set', async () => {
    const { status, body } = await admin.post(
      '/auth/register/',
      newUser({ email: 'Ada <Ada@Example.ORG>', is_superuser: true, is_verified: true, is_active: false, extra: 1 }),
    );
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      email: 'Ada@example.org',
      is_active: true,
      is_superuser: false,
      is_verified: false,
      is_guest: false,
      group_ids_names: null,
      oauth_accounts: [],
      profile_id: null,
      project_dirs: ['/a'],
      slurm_accounts: [],
    });
    const read = await admin.get(`/auth/users/${body.id}/`);
    expect(read.body.group_ids_names).toEqual([[allGroup, 'All']]);
  });

  it('takes profile, guest flag and Slurm accounts', async () => {
    const { body } = await admin.post(
      '/auth/register/',
      newUser({ email: 'g@example.org', profile_id: String(profileId), is_guest: 'yes', slurm_accounts: ['a', 'b'] }),
    );
    expect(body).toMatchObject({ profile_id: profileId, is_guest: true, slurm_accounts: ['a', 'b'] });
  });

  it.each([
    ['too short', 'abc', 400],
    ['too long', 'x'.repeat(73), 400],
    ['too long in bytes', 'é'.repeat(37), 400],
    ['blank but long enough', '    ', 201],
    ['four signs beyond the basic plane', '😀😀😀😀', 201],
  ])('judges the password as sent: %s', async (name, password, status) => {
    const answer = await admin.post(
      '/auth/register/',
      newUser({ email: `${name.replaceAll(' ', '-')}@example.org`, password }),
    );
    expect(answer.status).toBe(status);
    if (status === 400) {
      expect(answer.body.detail).toEqual({ code: 'REGISTER_INVALID_PASSWORD', reason: expect.any(String) });
    }
  });

  it('refuses a taken address, whatever its case, after the password', async () => {
    await admin.post('/auth/register/', newUser({ email: 'taken@example.org' }));
    const again = await admin.post('/auth/register/', newUser({ email: 'TAKEN@example.org' }));
    expect([again.status, again.body]).toEqual([400, { detail: 'REGISTER_USER_ALREADY_EXISTS' }]);
    const both = await admin.post('/auth/register/', newUser({ email: 'TAKEN@example.org', password: 'x' }));
    expect(both.body.detail.code).toBe('REGISTER_INVALID_PASSWORD');
  });

  it('answers 404 for an unknown profile and creates nothing', async () => {
    const { status } = await admin.post('/auth/register/', newUser({ email: 'lost@example.org', profile_id: 999_999 }));
    expect(status).toBe(404);
    expect((await admin.post('/auth/register/', newUser({ email: 'lost@example.org' }))).status).toBe(201);
  });

  it('never repeats a password in an error', async () => {
    const { status, text } = await admin.post('/auth/register/', {
      password: 'very-secret-password',
      email: 'x',
      project_dirs: 3,
    });
    expect(status).toBe(422);
    expect(text).not.toContain('very-secret-password');
  });

  it('gives one 201 and ninety-nine 400 to a hundred registrations of one address at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => admin.post('/auth/register/', newUser({ email: 'race@example.org' }))),
    );
    const statuses = answers.map((answer) => answer.status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 400)).toHaveLength(99);
  });
});

describe('the own account', () => {
  it('shows groups only when asked', async () => {
    const { client } = await service.person();
    expect((await client.get('/auth/current-user/')).body.group_ids_names).toBeNull();
    expect((await client.get('/auth/current-user/?group_ids_names=True')).body.group_ids_names).toEqual([
      [allGroup, 'All'],
    ]);
  });

  it('changes Slurm accounts and nothing else', async () => {
    const { client } = await service.person();
    const changed = await client.patch('/auth/current-user/', { slurm_accounts: ['x.y', 'z'] });
    expect([changed.status, changed.body.slurm_accounts]).toEqual([200, ['x.y', 'z']]);
    expect(changed.body.group_ids_names).toEqual([[allGroup, 'All']]);
    expect((await client.patch('/auth/current-user/', {})).body.slurm_accounts).toEqual(['x.y', 'z']);
    const refused = await client.patch('/auth/current-user/', { password: 'new', slurm_accounts: null });
    expect(refused.status).toBe(422);
    expect(
      refused.body.detail.map(({ loc, type }: { loc: string[]; type: string }) => [loc.join('.'), type]).sort(),
    ).toEqual([
      ['body.password', 'extra_forbidden'],
      ['body.slurm_accounts', 'list_type'],
    ]);
  });

  it('of a guest stays as it is, once the body is valid', async () => {
    const { client } = await service.person({ is_guest: true });
    expect((await client.patch('/auth/current-user/', {})).status).toBe(403);
    expect((await client.patch('/auth/current-user/', { x: 1 })).status).toBe(422);
  });

  it('tells the names of profile and resource', async () => {
    const without = await service.person();
    expect((await without.client.get('/auth/current-user/profile-info/')).body).toEqual({
      has_profile: false,
      resource_name: null,
      profile_name: null,
      username: null,
      resource_id: null,
      resource_type: null,
      prevent_new_submissions: null,
      python_versions: [],
      default_python_version: null,
      pixi_versions: [],
    });
    const person = await service.person({ profile_id: profileId });
    expect((await person.client.get('/auth/current-user/profile-info/')).body).toEqual({
      has_profile: true,
      resource_name: 'Machine',
      profile_name: 'Work',
      username: null,
      resource_id: expect.any(Number),
      resource_type: 'local',
      prevent_new_submissions: false,
      python_versions: ['3.12'],
      default_python_version: '3.12',
      pixi_versions: [],
    });
  });
});

describe('viewer paths', () => {
  const PATHS = '/auth/current-user/allowed-viewer-paths/';

  it('are the project folders in order, for verified people', async () => {
    const person = await service.person({ project_dirs: ['/b', 's3://bucket/key', '/a'] });
    expect((await person.client.get(PATHS)).status).toBe(403);
    await admin.patch(`/auth/users/${person.id}/`, { is_verified: true });
    expect((await person.client.get(PATHS)).body).toEqual(['/b', 's3://bucket/key', '/a']);
  });

  it.each([
    ['none', {}, []],
    ['viewer-paths', {}, ['/p']],
    ['users-folders', { SERVICE_VIEWER_BASE_FOLDER: '/base' }, ['/p', '/base/slurmuser']],
  ])('follow the scheme %s', async (scheme, extra, expected) => {
    const other = await startService({
      settings: { SERVICE_VIEWER_AUTHORIZATION_SCHEME: scheme, SERVICE_RUNNER_BACKEND: 'slurm_sudo', ...extra },
    });
    const resource = await other.admin.post('/admin/v2/resource/', {
      ...RESOURCE,
      type: 'slurm_sudo',
      jobs_slurm_python_worker: '/w',
      jobs_runner_config: {
        default_slurm_config: {},
        batching_config: {
          target_num_jobs: 1,
          max_num_jobs: 1,
          target_cpus_per_job: 1,
          max_cpus_per_job: 1,
          target_mem_per_job: 1,
          max_mem_per_job: 1,
        },
      },
    });
    const profile = await other.admin.post(`/admin/v2/resource/${resource.body.id}/profile/`, {
      resource_type: 'slurm_sudo',
      name: 'P',
      username: 'slurmuser',
    });
    const fields = { profile_id: profile.body.id, project_dirs: ['/p'], patch: { is_verified: true } };
    const person = await other.person(fields);
    expect((await person.client.get(PATHS)).body).toEqual(expected);
  });
});

describe('reading accounts', () => {
  it('lists them by id without groups, filtered by profile and resource', async () => {
    const person = await service.person({ profile_id: profileId });
    const all = (await admin.get('/auth/users/')).body;
    const ids = all.map((user: { id: number }) => user.id);
    expect(ids).toEqual([...ids].sort((one, other) => one - other));
    expect(all.every((user: { group_ids_names: unknown }) => user.group_ids_names === null)).toBe(true);
    const ofProfile = (await admin.get(`/auth/users/?profile_id=${profileId}`)).body;
    expect(ofProfile.map((user: { id: number }) => user.id)).toContain(person.id);
    expect((await admin.get('/auth/users/?profile_id=987654')).body).toEqual([]);
    const resourceId = (await admin.get('/admin/v2/resource/')).body[0].id;
    expect((await admin.get(`/auth/users/?resource_id=${resourceId}&profile_id=${profileId}`)).body).toEqual(ofProfile);
    expect((await admin.get('/auth/users/?resource_id=99999999999')).body).toEqual([]);
  });

  it('reads one with groups unless told otherwise', async () => {
    const { id } = await service.person();
    expect((await admin.get(`/auth/users/${id}/`)).body.group_ids_names).toHaveLength(1);
    expect((await admin.get(`/auth/users/${id}/?group_ids_names=off`)).body.group_ids_names).toBeNull();
    expect((await admin.get('/auth/users/987654/')).status).toBe(404);
    expect((await admin.get('/auth/users/99999999999999999999/')).status).toBe(404);
    expect((await admin.get('/auth/users/-1/')).status).toBe(404);
  });

  it('puts the default group first, then those joined earlier', async () => {
    const { id } = await service.person();
    const early = (await admin.post('/auth/group/', { name: 'early' })).body.id;
    const late = (await admin.post('/auth/group/', { name: 'late' })).body.id;
    await admin.post(`/auth/group/${late}/add-user/${id}/`);
    await admin.post(`/auth/group/${early}/add-user/${id}/`);
    const names = (await admin.get(`/auth/users/${id}/`)).body.group_ids_names.map(
      ([, name]: [number, string]) => name,
    );
    expect(names).toEqual(['All', 'late', 'early']);
  });
});

describe('changing accounts', () => {
  it('changes what is given and keeps the rest', async () => {
    const { id } = await service.person();
    const { status, body } = await admin.patch(`/auth/users/${id}/`, {
      profile_id: String(profileId),
      is_verified: 'true',
      project_dirs: ['/x//y/', 's3://bucket/key/'],
      slurm_accounts: ['acc'],
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      profile_id: profileId,
      is_verified: true,
      project_dirs: ['/x/y', 's3://bucket/key/'],
      slurm_accounts: ['acc'],
      group_ids_names: [[allGroup, 'All']],
    });
    expect((await admin.patch(`/auth/users/${id}/`, { profile_id: null })).body.profile_id).toBeNull();
    expect((await admin.patch(`/auth/users/${id}/`, {})).body.is_verified).toBe(true);
  });

  it('refuses null where only profile_id may be null, and unknown fields', async () => {
    const { id } = await service.person();
    const fields = [
      'password',
      'email',
      'is_active',
      'is_superuser',
      'is_verified',
      'is_guest',
      'project_dirs',
      'slurm_accounts',
    ];
    const { status, body } = await admin.patch(`/auth/users/${id}/`, {
      ...Object.fromEntries(fields.map((f) => [f, null])),
      new_group_ids: [1],
    });
    expect(status).toBe(422);
    expect(body.detail.map((entry: { loc: string[] }) => entry.loc[1]).sort()).toEqual(
      [...fields, 'new_group_ids'].sort(),
    );
  });

  it('checks in order: account, profile, flags, password, address', async () => {
    const { id, email } = await service.person();
    await service.person({ email: 'other@example.org' });
    const bad = { profile_id: 987_654, is_guest: true, is_superuser: true, password: 'x', email: 'other@example.org' };
    const patch = (body: object, target = id) => admin.patch(`/auth/users/${target}/`, body);
    expect((await patch(bad, 987_654)).status).toBe(404);
    expect((await patch(bad)).status).toBe(404);
    expect((await patch({ ...bad, profile_id: null })).status).toBe(422);
    const password = await patch({ password: 'x', email: 'other@example.org' });
    expect([password.status, password.body.detail.code]).toEqual([400, 'UPDATE_USER_INVALID_PASSWORD']);
    const address = await patch({ email: 'OTHER@example.org' });
    expect([address.status, address.body.detail]).toEqual([400, 'UPDATE_USER_EMAIL_ALREADY_EXISTS']);
    expect((await admin.get(`/auth/users/${id}/`)).body).toMatchObject({ email, is_guest: false, is_superuser: false });
  });

  it('sets a password, trimmed', async () => {
    const { id, email } = await service.person();
    expect((await admin.patch(`/auth/users/${id}/`, { password: '  new-password ' })).status).toBe(200);
    expect(await service.login(email, 'new-password')).toEqual(expect.any(String));
    const blank = await admin.patch(`/auth/users/${id}/`, { password: '   ' });
    expect([blank.status, blank.body.detail[0].type]).toEqual([422, 'string_too_short']);
  });

  it('takes back the verification when the address changes, unless told otherwise', async () => {
    const { id } = await service.person({ email: 'before@example.org', patch: { is_verified: true } });
    expect((await admin.patch(`/auth/users/${id}/`, { email: 'before@example.org' })).body.is_verified).toBe(true);
    expect((await admin.patch(`/auth/users/${id}/`, { email: 'after@example.org' })).body.is_verified).toBe(false);
    const kept = await admin.patch(`/auth/users/${id}/`, { email: 'last@example.org', is_verified: true });
    expect(kept.body).toMatchObject({ email: 'last@example.org', is_verified: true });
  });

  it('lets people change the case of their own address', async () => {
    const { id } = await service.person({ email: 'case@example.org' });
    const { status, body } = await admin.patch(`/auth/users/${id}/`, { email: 'Case@example.org' });
    expect([status, body.email]).toEqual([200, 'Case@example.org']);
  });

  it('keeps guests and superusers apart', async () => {
    const { id } = await service.person({ is_guest: true });
    expect((await admin.patch(`/auth/users/${id}/`, { is_superuser: true })).status).toBe(422);
    expect((await admin.patch(`/auth/users/${id}/`, { is_superuser: true, is_guest: false })).status).toBe(200);
    expect((await admin.patch(`/auth/users/${id}/`, { is_guest: true })).status).toBe(422);
    expect((await admin.patch(`/auth/users/${id}/`, { is_guest: true, is_superuser: false })).status).toBe(200);
    const broken = service.database.pool.query(`update users set is_superuser = true where id = ${id}`);
    await expect(broken).rejects.toMatchObject({ constraint: 'users_guest_xor_superuser' });
  });

  it('refuses to lose the last active superuser', async () => {
    const alone = await startService();
    const me = (await alone.admin.get('/auth/current-user/')).body.id;
    for (const change of [{ is_superuser: false }, { is_active: false }, { is_guest: true, is_superuser: false }]) {
      expect((await alone.admin.patch(`/auth/users/${me}/`, change)).status).toBe(422);
    }
    await alone.person({ patch: { is_superuser: true, is_active: false } });
    expect((await alone.admin.patch(`/auth/users/${me}/`, { is_superuser: false })).status).toBe(422);
    await alone.person({ patch: { is_superuser: true } });
    expect((await alone.admin.patch(`/auth/users/${me}/`, { is_superuser: false })).status).toBe(200);
  });

  it('keeps one superuser when a hundred demotions come at once', async () => {
    const crowd = await startService();
    const { db } = crowd.database;
    const others = Array.from({ length: 99 }, (_, index) => ({
      email: `su${index}@example.org`,
      hashed_password: 'none',
      is_superuser: true,
      project_dirs: ['/a'],
      profile_id: null,
    }));
    await db.insertInto('users').values(others).execute();
    const all = await db.selectFrom('users').select('id').orderBy('id').execute();
    expect(all).toHaveLength(100);
    const mine = (await crowd.admin.get('/auth/current-user/')).body.id as number;
    // The own account last in line: a demoted administrator could not demote the others.
    const statuses = await Promise.all(
      [...all.filter(({ id }) => id !== mine), { id: mine }].map(
        async ({ id }) =>
          (await crowd.admin.patch(`/auth/users/${id}/`, id % 2 ? { is_superuser: false } : { is_active: false }))
            .status,
      ),
    );
    const left = await db
      .selectFrom('users')
      .select('id')
      .where('is_superuser', '=', true)
      .where('is_active', '=', true)
      .execute();
    expect(left.length).toBeGreaterThanOrEqual(1);
    expect(statuses.filter((status) => status === 200).length + left.length).toBe(100);
    expect(new Set(statuses)).not.toContain(500);
  });
});

describe('the list for spreadsheets', () => {
  it('has people with a profile, by address, quoted where needed', async () => {
    const other = await startService();
    const resource = await other.admin.post('/admin/v2/resource/', RESOURCE);
    const profile = await other.admin.post(`/admin/v2/resource/${resource.body.id}/profile/`, {
      resource_type: 'local',
      name: 'P',
    });
    const fields = { profile_id: profile.body.id, slurm_accounts: ['a', 'b'], project_dirs: ['/a,b', '/c "d"'] };
    const zoe = await other.person({ email: 'zoe@example.org', ...fields });
    const ann = await other.person({ email: 'ann@example.org', profile_id: profile.body.id });
    await other.person({ email: 'without@example.org' });
    const group = await other.admin.post('/auth/group/', { name: 'Lab' });
    await other.admin.post(`/auth/group/${group.body.id}/add-user/${zoe.id}/`);
    const { status, text, headers } = await other.admin.get('/admin/v2/users-csv/');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toBe('attachment');
    expect(text.split('\r\n')).toEqual([
      'id,email,slurm_username,slurm_accounts,project_dirs,user_groups,num_jobs',
      `${ann.id},ann@example.org,,,/projects/p,All,0`,
      `${zoe.id},zoe@example.org,,a|b,"/a,b|/c ""d""",All|Lab,0`,
      '',
    ]);
    expect((await other.admin.get('/admin/v2/users-csv/?exclude_zero_jobs=true')).text.split('\r\n')).toHaveLength(2);
  });

  it.each([
    ['2026-01-01T00:00:00', 'timezone_aware'],
    ['2026-01-01', 'timezone_aware'],
    ['yesterday', 'datetime_from_date_parsing'],
    ['', 'datetime_from_date_parsing'],
  ])('needs times with a zone: %s', async (time, type) => {
    const { status, body } = await admin.get('/admin/v2/users-csv/', { query: { start_timestamp_min: time } });
    expect([status, body.detail[0].type, body.detail[0].loc]).toEqual([422, type, ['query', 'start_timestamp_min']]);
  });

  it.each(['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123456+02:00', '1767225600'])('takes %s', async (time) => {
    expect((await admin.get('/admin/v2/users-csv/', { query: { start_timestamp_max: time } })).status).toBe(200);
  });
});

describe('impersonation', () => {
  const claims = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { exp: number };

  it('gives a token for two hours, by the way existing clients ask and by POST', async () => {
    const { id } = await service.person();
    const answers = await Promise.all([
      admin.get(`/admin/v2/impersonate/${id}/`),
      admin.post('/admin/v2/impersonate/', { user_id: id }),
      admin.post(`/admin/v2/impersonate/?user_id=${id}`),
    ]);
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body).toEqual({ access_token: expect.any(String), token_type: 'bearer' });
      expect(Math.abs(claims(body.access_token).exp - Date.now() / 1000 - 7200)).toBeLessThan(10);
      expect((await service.withToken(body.access_token).get('/auth/current-user/')).body.id).toBe(id);
    }
    expect((await admin.get('/admin/v2/impersonate/987654/')).status).toBe(404);
    expect((await admin.post('/admin/v2/impersonate/', {})).body.detail[0].type).toBe('missing');
    expect((await admin.post(`/admin/v2/impersonate/${id}/`)).status).toBe(405);
  });

  it.each([
    ['a link', { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'same-origin' }, 403],
    ['a typed address', { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' }, 403],
    ['another site', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-site': 'cross-site' }, 403],
    ['a sister site', { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-site' }, 403],
    ['an old browser on another site', { origin: 'https://evil.example', 'user-agent': 'Mozilla/5.0' }, 403],
    ['the page itself', { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' }, 200],
  ])('is refused or not when a browser sends it: %s', async (_, headers, status) => {
    const { id } = await service.person();
    const cookie = `fastapiusersauth=${service.adminToken}`;
    // fetch would write these headers itself
    const answer = await service.app.inject({ url: `/admin/v2/impersonate/${id}/`, headers: { ...headers, cookie } });
    expect(answer.statusCode).toBe(status);
  });
});
