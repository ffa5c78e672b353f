import { beforeAll, describe, expect, it } from 'vitest';

import { addDataset, addJob, type Cast, castOf } from '../support/people.ts';
import { addPerson, addProject, type Person, shareProject } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';

let service: TestService;
let cast: Cast;
let number = 0;

beforeAll(async () => {
  service = await startService();
  cast = await castOf(service);
});

const newPerson = (project_dirs: string[]) => addPerson(service, cast.profile, { project_dirs });

/** A project of somebody with datasets in these folders. */
async function projectWith(owner: Person, ...zarrDirs: string[]): Promise<number> {
  const project = await addProject(service, owner, `Project ${++number}`);
  for (const zarr_dir of zarrDirs) await addDataset(service, project, { zarr_dir });
  return project;
}

describe('the folders a person may look at', () => {
  const PATH = '/auth/current-user/allowed-viewer-paths/';

  it('are the own folders and those of all datasets in own and accepted projects', async () => {
    const [me, other] = [await newPerson(['/b', '/a']), await newPerson(['/x'])];
    await projectWith(me, '/a', '/a/own', '/a/own');
    await shareProject(service, await projectWith(other, '/x/shared', '/a/own', 's3://bucket/k'), me, 'r');
    await shareProject(service, await projectWith(other, '/x/pending'), me, 'rwx', false);
    await projectWith(other, '/x/foreign');
    const { status, body } = await me.client.get(PATH);
    expect(status).toBe(200);
    expect(body.slice(0, 2)).toEqual(['/b', '/a']);
    expect(body.slice(2).sort()).toEqual(['/a', '/a/own', '/x/shared', 's3://bucket/k']);
    expect((await me.client.get(PATH, { query: { include_shared_projects: true } })).body).toEqual(body);
    expect((await me.client.get(PATH, { query: { include_shared_projects: 'no' } })).body).toEqual(['/b', '/a']);
  });

  it('need no profile', async () => {
    const me = await service.person({ project_dirs: ['/p'], patch: { is_verified: true } });
    await shareProject(service, await projectWith(cast.people.owner, '/x/y'), me, 'r');
    expect((await me.client.get(PATH)).body).toEqual(['/p', '/x/y']);
    expect((await service.anyone.get(PATH)).status).toBe(401);
  });
});

describe('the project folders of an account', () => {
  it.each<[string[], string[], string, number]>([
    [['/test', '/test/data'], ['/test/data'], '/test/data/x', 200],
    [['/test', '/test/data'], ['/test/data'], '/test/x', 422],
    [['/test'], ['/test/data'], '/test/data', 200],
    [['/d'], ['/other'], '/dir1/x', 200],
    [['/d'], ['/dir1'], '/d/x', 422],
    [['/d'], ['/'], '/d/x', 200],
    [['/d'], ['/d/', '/e'], '/d/x', 200],
    [['/d', '/e'], ['/e'], '/elsewhere', 200],
    [['s3://bucket/key'], ['/bucket/key'], 's3://bucket/key/x', 422],
    [['s3://bucket/key', '/a'], ['s3://bucket/key/', '/a'], 's3://bucket/key/x', 200],
  ])('change from %j to %j, with a dataset in %s: %i', async (before, after, zarrDir, status) => {
    const me = await newPerson(before);
    await projectWith(me, zarrDir);
    const answer = await service.admin.patch(`/auth/users/${me.id}/`, { project_dirs: after });
    expect(answer.status).toBe(status);
    if (status === 422) {
      expect(typeof answer.body.detail).toBe('string');
      expect((await service.admin.get(`/auth/users/${me.id}/`)).body.project_dirs).toEqual(before);
    }
  });

  it('are kept for datasets of accepted projects, and not for pending ones', async () => {
    const me = await newPerson(['/d']);
    const project = await projectWith(cast.people.owner, '/d/theirs');
    await shareProject(service, project, me, 'r', false);
    const change = (patch: Record<string, unknown>) => service.admin.patch(`/auth/users/${me.id}/`, patch);
    expect((await change({ project_dirs: ['/e', '/d'] })).status).toBe(200);
    await me.client.post(`/api/v2/project/${project}/access/accept/`);
    expect((await change({ project_dirs: ['/e'] })).status).toBe(422);
    expect((await change({ project_dirs: ['/e'], profile_id: 987_654 })).status).toBe(404);
    const both = await change({ project_dirs: ['/e'], password: 'x' });
    expect(both.status).toBe(422);
    await me.client.delete(`/api/v2/project/${project}/access/`);
    expect((await change({ project_dirs: ['/e'] })).status).toBe(200);
  });
});

describe('the list of accounts for spreadsheets', () => {
  it('counts the jobs of each person, in the time that is asked for', async () => {
    const [one, none] = [await newPerson(['/p']), await newPerson(['/p'])];
    const project = await projectWith(one);
    const add = (start_timestamp: string, by: { user_id: number | null; user_email: string }) =>
      addJob(service, { project_id: project, start_timestamp, ...by });
    await add('2025-01-01T00:00:00Z', { user_id: one.id, user_email: one.email });
    await add('2025-02-01T00:00:00Z', { user_id: one.id, user_email: 'former@example.org' });
    await add('2025-03-01T00:00:00Z', { user_id: null, user_email: one.email });
    await add('2025-03-01T00:00:00Z', { user_id: null, user_email: 'unknown@example.org' });
    await add('2025-03-01T00:00:00Z', { user_id: cast.people.owner.id, user_email: none.email });
    const counts = async (query: Record<string, string | boolean> = {}) => {
      const { text } = await service.admin.get('/admin/v2/users-csv/', { query });
      const lines = text.split('\r\n').map((line) => line.split(','));
      return [one, none].map(({ id }) => lines.find(([first]) => first === String(id))?.at(-1));
    };
    expect(await counts()).toEqual(['3', '0']);
    expect(await counts({ exclude_zero_jobs: true })).toEqual(['3', undefined]);
    expect(await counts({ start_timestamp_min: '2025-02-01T00:00:00Z' })).toEqual(['2', '0']);
    expect(await counts({ start_timestamp_min: '2025-02-01T00:00:00.000001Z' })).toEqual(['1', '0']);
    expect(await counts({ start_timestamp_max: '2025-02-01T01:00:00+01:00' })).toEqual(['2', '0']);
    expect(
      await counts({ start_timestamp_min: '2025-02-01T00:00:00Z', start_timestamp_max: '2025-02-01T00:00:00Z' }),
    ).toEqual(['1', '0']);
    expect(await counts({ exclude_zero_jobs: true, start_timestamp_min: '2030-01-01T00:00:00Z' })).toEqual([
      undefined,
      undefined,
    ]);
  });
});
