import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';

import { addDataset, addJob, addRun, addWorkflow, type Cast, castOf, type Role, ROLES } from '../support/people.ts';
import { addPerson, addProfile, addProject, type Person, shareProject } from '../support/plates.ts';
import { type Client, startService, type TestService } from '../support/server.ts';
import { addTaskGroup } from '../support/tasks.ts';

const URL = '/api/v2/project/';

let service: TestService;
let cast: Cast;

beforeAll(async () => {
  service = await startService();
  cast = await castOf(service);
});

const newPerson = () => addPerson(service, cast.profile);
const namesOf = (body: { name: string }[]) => body.map(({ name }) => name);

describe('creating a project', () => {
  it('makes the caller its owner', async () => {
    const { client, email, id } = await newPerson();
    const { status, body } = await client.post(URL, { name: '  My Proj  ', description: ' what for ' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      name: 'My Proj',
      description: 'what for',
      is_starred: false,
      timestamp_created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$/),
      is_owner: true,
      permissions: 'rwx',
      owner_email: email,
    });
    expect((await client.get(`${URL}${body.id}/`)).body).toEqual(body);
    const links = await service.admin.get('/admin/v2/linkuserproject/', { query: { project_id: body.id } });
    expect(links.body.items).toEqual([
      {
        user_id: id,
        user_email: email,
        project_id: body.id,
        project_name: 'My Proj',
        is_verified: true,
        is_owner: true,
        permissions: 'rwx',
      },
    ]);
  });

  it.each<[Record<string, unknown>, (string | number)[], string]>([
    [{ name: 'a\tb' }, ['body', 'name'], 'string_pattern_mismatch'],
    [{ name: 'a\nb' }, ['body', 'name'], 'string_pattern_mismatch'],
    [{ name: 'fdp.\u202eexe' }, ['body', 'name'], 'string_pattern_mismatch'],
    [{ name: 'a\u200bb' }, ['body', 'name'], 'string_pattern_mismatch'],
    [{ name: '   ' }, ['body', 'name'], 'string_too_short'],
    [{ name: 3 }, ['body', 'name'], 'string_type'],
    [{ name: null }, ['body', 'name'], 'string_type'],
    [{}, ['body', 'name'], 'missing'],
    [{ name: 'n\u0000' }, ['body', 'name'], 'value_error'],
    [{ name: 'ok', description: '  ' }, ['body', 'description'], 'string_too_short'],
    [{ name: 'ok', description: 'a\u0000' }, ['body', 'description'], 'value_error'],
    [{ name: 'ok', resource_id: 1 }, ['body', 'resource_id'], 'extra_forbidden'],
  ])('refuses %j', async (body, loc, type) => {
    const answer = await cast.people.owner.client.post(URL, body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toEqual([expect.objectContaining({ loc, type })]);
  });

  it('takes every name that can be read, of any length', async () => {
    const { client } = await newPerson();
    for (const name of ['.'.repeat(22), 'a b-c_d.e', '0', 'x'.repeat(10_000), 'abc\n', 'nàmé#', 'a/b', '測定 👩‍🔬']) {
      const { status, body } = await client.post(URL, { name });
      expect([status, body.name]).toEqual([201, name.trim()]);
    }
  });

  it('refuses a name that the caller has used, and lets others use it', async () => {
    const [one, other] = [await newPerson(), await newPerson()];
    expect((await one.client.post(URL, { name: 'Same' })).status).toBe(201);
    const again = await one.client.post(URL, { name: ' Same ' });
    expect([again.status, typeof again.body.detail]).toEqual([422, 'string']);
    expect((await one.client.post(URL, { name: 'same' })).status).toBe(201);
    const shared = await other.client.post(URL, { name: 'Same' });
    expect(shared.status).toBe(201);
    await shareProject(service, shared.body.id, one, 'rwx');
    expect((await one.client.post(URL, { name: 'Same' })).status).toBe(422);
    const third = await newPerson();
    await shareProject(service, shared.body.id, third, 'rwx');
    expect((await third.client.post(URL, { name: 'Same' })).status).toBe(201);
  });

  it('gives one 201 to twenty requests for one name at once', async () => {
    const { client } = await newPerson();
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.post(URL, { name: 'Race' })));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array<number>(19).fill(422)]);
    expect((await client.get(URL)).body).toHaveLength(1);
  });

  it('judges the resource and the profile of the caller again', async () => {
    const profile = await addProfile(service);
    const { client } = await addPerson(service, profile);
    const { db } = service.database;
    const resource = () =>
      db
        .updateTable('resources')
        .where('id', '=', (eb) => eb.selectFrom('profiles').select('resource_id').where('id', '=', profile));
    await resource().set({ jobs_local_dir: 'relative' }).execute();
    const bad = await client.post(URL, { name: 'p' });
    expect([bad.status, bad.body.detail]).toEqual([422, expect.stringContaining('jobs_local_dir')]);
    await resource().set({ jobs_local_dir: '/jobs' }).execute();
    await db.updateTable('profiles').set({ username: 'x' }).where('id', '=', profile).execute();
    const worse = await client.post(URL, { name: 'p' });
    expect([worse.status, worse.body.detail]).toEqual([422, expect.stringContaining('username')]);
    await db.updateTable('profiles').set({ username: null }).where('id', '=', profile).execute();
    await resource().set({ type: 'slurm_sudo', jobs_slurm_python_worker: '/python' }).execute();
    expect((await client.post(URL, { name: 'p' })).status).toBe(422);
    await resource().set({ type: 'local', jobs_slurm_python_worker: null }).execute();
    expect((await client.post(URL, { name: 'p' })).status).toBe(201);
  });

  it.each<[Role, number]>([
    ['owner', 201],
    ['serviceGuest', 403],
    ['superuser', 201],
    ['anonymous', 401],
  ])('by %s is answered with %i', async (role, status) => {
    expect((await cast.client(role).post(URL, { name: 'By role' })).status).toBe(status);
  });

  it('needs a verified account with a profile', async () => {
    const unverified = await service.person({ profile_id: cast.profile });
    const bare = await service.person({ patch: { is_verified: true } });
    for (const { client } of [unverified, bare]) {
      expect((await client.post(URL, { name: 'p' })).status).toBe(403);
      expect((await client.get(URL)).status).toBe(403);
    }
  });
});

describe('who may do what in a project', () => {
  let project: number;
  const expected: Record<string, Record<Role, number>> = {
    'GET ': row(200, 200, 200, 200, 403, 403, 200, 403, 401),
    'PATCH ': row(200, 200, 200, 403, 403, 403, 403, 403, 401),
    'POST star/': row(200, 200, 200, 403, 403, 403, 403, 403, 401),
    'POST unstar/': row(200, 200, 200, 403, 403, 403, 403, 403, 401),
    'GET guest/': row(200, 403, 403, 403, 403, 403, 403, 403, 401),
    'POST guest/?email=stranger@example.org': row(201, 403, 403, 403, 403, 403, 403, 403, 401),
    'PATCH guest/?email=r@example.org': row(200, 403, 403, 403, 403, 403, 403, 403, 401),
    'DELETE guest/?email=r@example.org': row(204, 403, 403, 403, 403, 403, 403, 403, 401),
    'GET access/': row(200, 200, 200, 200, 404, 404, 200, 404, 401),
    'POST access/accept/': row(404, 404, 404, 404, 200, 404, 403, 404, 401),
    'DELETE access/': row(422, 204, 204, 204, 204, 404, 403, 404, 401),
    'DELETE ': row(204, 403, 403, 403, 403, 403, 403, 403, 401),
  };

  function row(...statuses: number[]): Record<Role, number> {
    return Object.fromEntries(ROLES.map((role, index) => [role, statuses[index]])) as Record<Role, number>;
  }

  const bodyOf = (call: string) => {
    if (call === 'PATCH ') return { description: 'new' };
    return call.startsWith('POST guest') || call.startsWith('PATCH guest') ? { permissions: 'r' } : undefined;
  };

  const send = (client: Client, call: string, id: number | string) => {
    const [method, path] = [call.slice(0, call.indexOf(' ')), call.slice(call.indexOf(' ') + 1)];
    const url = `${URL}${id}/${path}`;
    if (method === 'GET') return client.get(url);
    if (method === 'DELETE') return client.delete(url);
    return method === 'PATCH' ? client.patch(url, bodyOf(call)) : client.post(url, bodyOf(call));
  };

  const cases = Object.entries(expected).flatMap(([call, statuses]) =>
    ROLES.map((role) => [call, role, statuses[role]] as const),
  );

  it.each(cases)('%s by %s is answered with %i', async (call, role, status) => {
    project = await addProject(service, cast.people.owner, `Roles ${Math.random()}`);
    await cast.shareWithAll(project);
    const answer = await send(cast.client(role), call, project);
    expect(answer.status).toBe(status);
    if (status < 300 && !['GET', 'PATCH '].some((start) => call.startsWith(start))) expect(answer.text).toBe('');
  });

  it.each(Object.keys(expected))('%s of a project that does not exist is refused, whatever its id', async (call) => {
    const status = call.includes('guest/') ? 403 : 404;
    for (const id of [987_654, 0, -1, '2147483648', '99999999999999999999']) {
      expect((await send(cast.people.owner.client, call, id)).status).toBe(status);
    }
    expect((await send(cast.people.owner.client, call, 'x')).status).toBe(422);
  });

  it.each<[string, string, number]>([
    ['PATCH', '/api/v2/project/invitation/', 422],
    ['PUT', '/api/v2/project/1/', 405],
    ['GET', '/api/v2/project/1/star/', 405],
    ['POST', '/api/v2/project/1/access/', 405],
    ['DELETE', '/admin/v2/project/1/', 405],
    ['GET', '/api/v2/workflow-template/import/', 422],
  ])('%s %s is answered with %i', async (method, path, status) => {
    const json = { headers: { 'content-type': 'application/json' }, body: '{}' };
    const answer = await cast.people.owner.client.raw(path, { method, ...(method === 'PATCH' ? json : {}) });
    expect(answer.status).toBe(status);
  });

  it('reads ids the way existing clients write them', async () => {
    const id = await addProject(service, cast.people.owner, 'Ids');
    for (const written of [`+${id}`, `${id}.0`, `%20${id}`]) {
      expect((await cast.people.owner.client.get(`${URL}${written}/`)).body.id).toBe(id);
    }
  });
});

describe('changing a project', () => {
  let owner: Person;
  let guest: Person;
  let project: number;

  beforeAll(async () => {
    owner = await newPerson();
    guest = await newPerson();
    project = await addProject(service, owner, 'First');
    await addProject(service, owner, 'Second');
    await addProject(service, guest, 'Own');
    await shareProject(service, project, guest, 'rw');
  });

  it('changes what is given and nothing else', async () => {
    const url = `${URL}${project}/`;
    const described = await owner.client.patch(url, { description: ' words ' });
    expect(described.body).toMatchObject({ name: 'First', description: 'words' });
    expect((await owner.client.patch(url, {})).body).toEqual(described.body);
    expect((await owner.client.patch(url, { name: 'First' })).body).toEqual(described.body);
    expect((await owner.client.patch(url, { description: null })).body.description).toBeNull();
  });

  it.each([{ name: null }, { name: '' }, { name: 'a\tb' }, { description: '' }, { is_starred: true }, { name: 3 }])(
    'refuses %j',
    async (body) => {
      expect((await owner.client.patch(`${URL}${project}/`, body)).status).toBe(422);
    },
  );

  it('keeps names unique among the projects of the owner, whoever renames', async () => {
    const url = `${URL}${project}/`;
    expect((await guest.client.patch(url, { name: 'Second' })).status).toBe(422);
    expect((await owner.client.patch(url, { name: 'Second' })).status).toBe(422);
    const renamed = await guest.client.patch(url, { name: 'Own' });
    expect([renamed.status, renamed.body.name]).toEqual([200, 'Own']);
    expect(renamed.body).toMatchObject({ is_owner: false, permissions: 'rw', owner_email: owner.email });
    expect((await owner.client.patch(url, { name: 'First' })).status).toBe(200);
  });
});

describe('the list of projects', () => {
  it('has the starred ones first, then the newest, and parts own from shared ones', async () => {
    const [owner, guest] = [await newPerson(), await newPerson()];
    const ids: number[] = [];
    for (const name of ['a', 'b', 'c', 'd']) ids.push((await owner.client.post(URL, { name })).body.id);
    await owner.client.post(`${URL}${ids[1]}/star/`);
    expect(namesOf((await owner.client.get(URL)).body)).toEqual(['b', 'd', 'c', 'a']);
    await owner.client.post(`${URL}${ids[1]}/star/`);
    await shareProject(service, ids[0]!, guest, 'r');
    await shareProject(service, ids[1]!, guest, 'rw');
    await shareProject(service, ids[2]!, guest, 'rwx', false);
    expect((await guest.client.get(URL)).body).toEqual([]);
    const shared = await guest.client.get(URL, { query: { is_owner: 'No' } });
    expect(namesOf(shared.body)).toEqual(['b', 'a']);
    expect(shared.body[0]).toMatchObject({
      is_starred: true,
      is_owner: false,
      permissions: 'rw',
      owner_email: owner.email,
      num_members: 2,
    });
    expect((await owner.client.get(URL, { query: { is_owner: false } })).body).toEqual([]);
    await owner.client.post(`${URL}${ids[1]}/unstar/`);
    expect(namesOf((await owner.client.get(URL)).body)).toEqual(['d', 'c', 'b', 'a']);
    expect((await owner.client.get(URL, { query: { is_owner: 'maybe' } })).status).toBe(422);
  });

  it('tells what is in each project and how its newest job fares', async () => {
    const [owner, guest, invited] = [await newPerson(), await newPerson(), await newPerson()];
    const empty = await addProject(service, owner, 'Empty');
    const full = await addProject(service, owner, 'Full');
    await shareProject(service, full, guest, 'r');
    await shareProject(service, full, invited, 'r', false);
    const dataset = await addDataset(service, full);
    await addDataset(service, full);
    await addWorkflow(service, full, 'one');
    await service.database.db
      .insertInto('images')
      .values(
        [1, 2, 3].map((position) => ({ dataset_id: dataset, position, zarr_url: `/z/${position}`, origin: null })),
      )
      .execute();
    await addJob(service, { project_id: full, start_timestamp: '2025-01-01T00:00:00Z' });
    const newest = { project_id: full, dataset_id: dataset, start_timestamp: '2026-01-01T00:00:00.5Z' };
    const job = await addJob(service, { ...newest, status: 'submitted' });
    const listed = async () => {
      const { body } = await owner.client.get(URL);
      return body.find(({ id }: { id: number }) => id === full);
    };
    const first = await listed();
    expect(first).toMatchObject({ num_datasets: 2, num_workflows: 1, num_members: 2, image_count: 3 });
    expect(first.last_job).toEqual({
      id: job,
      status: 'submitted',
      stopped: false,
      has_warnings: false,
      workflow_name: 'the flow',
      dataset_name: 'the data',
      task_name: null,
      timestamp: '2026-01-01T00:00:00.500000+00:00',
      progress: null,
    });
    const run = { job_id: job, dataset_id: dataset };
    await addRun(service, { ...run, task: 'convert', timestamp_started: '2026-01-01T00:01:00Z' }, ['done!', 'done']);
    await addRun(service, { ...run, task: 'segment', timestamp_started: '2026-01-01T00:02:00Z' }, [
      'done',
      'done',
      'failed',
      'submitted',
    ]);
    expect((await listed()).last_job).toMatchObject({
      task_name: 'segment',
      has_warnings: true,
      progress: { waiting: 1, running: 0, done: 2, failed: 1 },
    });
    const other = (await owner.client.get(URL)).body.find(({ id }: { id: number }) => id === empty);
    expect(other).toMatchObject({ num_datasets: 0, num_workflows: 0, num_members: 1, image_count: 0, last_job: null });
  });
});

describe('deleting a project', () => {
  it('takes links, datasets, images and workflows along, and leaves jobs behind', async () => {
    const [owner, guest] = [await newPerson(), await newPerson()];
    const project = await addProject(service, owner, 'Gone');
    await shareProject(service, project, guest, 'rwx');
    const dataset = await addDataset(service, project);
    const workflow = await addWorkflow(service, project);
    const { db } = service.database;
    const image = { dataset_id: dataset, position: 0, zarr_url: '/z/1', origin: null, attributes: '{"plate": "p"}' };
    await db.insertInto('images').values(image).execute();
    const job = await addJob(service, { project_id: project, dataset_id: dataset, workflow_id: workflow });
    await addRun(service, { job_id: job, dataset_id: dataset, task: 'convert' }, ['done']);
    expect((await guest.client.delete(`${URL}${project}/`)).status).toBe(403);
    const gone = await owner.client.delete(`${URL}${project}/`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    const { rows } = await sql<Record<string, number>>`
      select (select count(*) from project_links where project_id = ${project}) as links,
             (select count(*) from datasets where project_id = ${project}) as datasets,
             (select count(*) from images where dataset_id = ${dataset}) as images,
             (select count(*) from image_facets where dataset_id = ${dataset}) as facets,
             (select count(*) from workflows where project_id = ${project}) as workflows,
             (select count(*) from history_runs where job_id = ${job}) as runs`.execute(db);
    expect(rows[0]).toEqual({ links: 0, datasets: 0, images: 0, facets: 0, workflows: 0, runs: 0 });
    const left = await db.selectFrom('jobs').selectAll().where('id', '=', job).executeTakeFirstOrThrow();
    expect(left).toMatchObject({
      project_id: null,
      dataset_id: null,
      workflow_id: null,
      workflow_dump: { name: 'the flow' },
    });
    expect((await owner.client.get(`${URL}${project}/`)).status).toBe(404);
    expect((await owner.client.delete(`${URL}${project}/`)).status).toBe(404);
  });

  it('waits for the jobs of the project to end', async () => {
    const owner = await newPerson();
    const project = await addProject(service, owner, 'Busy');
    const job = await addJob(service, { project_id: project, status: 'submitted' });
    expect((await owner.client.delete(`${URL}${project}/`)).status).toBe(422);
    expect((await owner.client.get(`${URL}${project}/`)).status).toBe(200);
    await service.database.db.updateTable('jobs').set({ status: 'failed' }).where('id', '=', job).execute();
    expect((await owner.client.delete(`${URL}${project}/`)).status).toBe(204);
  });

  it('lets the resource go only when no project and no task group uses it', async () => {
    const profile = await addProfile(service);
    const owner = await addPerson(service, profile);
    const { body } = await owner.client.post(URL, { name: 'Holds' });
    const { resource_id } = await service.database.db
      .selectFrom('profiles')
      .select('resource_id')
      .where('id', '=', profile)
      .executeTakeFirstOrThrow();
    await service.admin.patch(`/auth/users/${owner.id}/`, { profile_id: cast.profile });
    await service.admin.delete(`/admin/v2/profile/${profile}/`);
    const kept = await service.admin.delete(`/admin/v2/resource/${resource_id}/`);
    expect([kept.status, kept.body.detail]).toEqual([422, expect.stringContaining('Projects')]);
    await owner.client.delete(`${URL}${body.id}/`);
    const group = await addTaskGroup(service, { user_id: owner.id, resource_id });
    const installed = await service.admin.delete(`/admin/v2/resource/${resource_id}/`);
    expect([installed.status, installed.body.detail]).toEqual([422, expect.stringContaining('Task groups')]);
    await service.database.db.deleteFrom('task_groups').where('id', '=', group).execute();
    expect((await service.admin.delete(`/admin/v2/resource/${resource_id}/`)).status).toBe(204);
  });
});
