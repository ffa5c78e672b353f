import { beforeAll, describe, expect, it } from 'vitest';

import { type Client, startService, type TestService } from '../support/server.ts';

let service: TestService;
let admin: Client;
beforeAll(async () => {
  service = await startService();
  ({ admin } = service);
});

const local = (fields: Record<string, unknown> = {}) => ({
  type: 'local',
  name: 'My machine',
  jobs_local_dir: '/srv/jobs',
  tasks_local_dir: '/srv/tasks',
  jobs_runner_config: {},
  tasks_python_config: { default_version: '3.12', versions: { '3.12': '/usr/bin/python3.12' } },
  tasks_pixi_config: {},
  ...fields,
});

const slurm = (fields: Record<string, unknown> = {}) => ({
  ...local(),
  type: 'slurm_ssh',
  name: 'Cluster',
  host: 'login.cluster.example',
  jobs_slurm_python_worker: '/opt/worker/bin/python3.12',
  jobs_runner_config: {
    default_slurm_config: { partition: 'main', cpus_per_task: 1, mem: '100M' },
    gpu_slurm_config: { partition: 'gpu', extra_lines: ['#SBATCH --gres=gpu:1'] },
    user_local_exports: { MODELS_PATH: 'models' },
    batching_config: {
      target_cpus_per_job: 1,
      max_cpus_per_job: 1,
      target_mem_per_job: 200,
      max_mem_per_job: '1G',
      target_num_jobs: 2,
      max_num_jobs: 4,
    },
  },
  ...fields,
});

const create = async (fields: Record<string, unknown> = {}): Promise<number> =>
  (await admin.post('/admin/v2/resource/', local(fields))).body.id;

describe('resources', () => {
  it('are stored as validation gives them back', async () => {
    const { status, body } = await admin.post(
      '/admin/v2/resource/',
      local({
        id: 5,
        timestamp_created: 'x',
        tasks_pip_cache_dir: '/x',
        jobs_local_dir: '/a//b/./c/',
        prevent_new_submissions: 'yes',
      }),
    );
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      name: 'My machine',
      type: 'local',
      prevent_new_submissions: true,
      timestamp_created: expect.stringMatching(/Z$/),
      host: null,
      jobs_local_dir: '/a/b/c',
      jobs_runner_config: { parallel_tasks_per_job: null },
      jobs_slurm_python_worker: null,
      jobs_poll_interval: 5,
      tasks_local_dir: '/srv/tasks',
      tasks_python_config: {
        default_version: '3.12',
        versions: { '3.12': '/usr/bin/python3.12' },
        pip_cache_dir: null,
      },
      tasks_pixi_config: {},
    });
    expect((await admin.get(`/admin/v2/resource/${body.id}/`)).body).toEqual(body);
    expect((await admin.get('/admin/v2/resource/')).body).toContainEqual(body);
  });

  it('have unique names, also when twenty are created at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => admin.post('/admin/v2/resource/', local({ name: 'Race' }))),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 422 && typeof answer.body.detail === 'string')).toHaveLength(
      19,
    );
  });

  it('are replaced whole; what is left out returns to its default', async () => {
    const id = await create({ name: 'To replace', prevent_new_submissions: true, jobs_poll_interval: 9 });
    const { status, body } = await admin.put(`/admin/v2/resource/${id}/`, local({ name: 'To replace' }));
    expect([status, body.prevent_new_submissions, body.jobs_poll_interval]).toEqual([200, false, 5]);
    await create({ name: 'Taken' });
    expect((await admin.put(`/admin/v2/resource/${id}/`, local({ name: 'Taken' }))).status).toBe(422);
    expect((await admin.put('/admin/v2/resource/987654/', local({ name: 'Taken' }))).status).toBe(404);
    expect((await admin.put('/admin/v2/resource/987654/', slurm())).status).toBe(422);
    expect((await admin.put(`/admin/v2/resource/${id}/`, { type: 'local' })).body.detail[0].loc.slice(0, 2)).toEqual([
      'body',
      'local',
    ]);
  });

  it('of another type than the backend are refused in words', async () => {
    const { status, body } = await admin.post('/admin/v2/resource/', slurm());
    expect([status, typeof body.detail]).toEqual([422, 'string']);
  });

  it('are deleted only when nothing refers to them', async () => {
    const id = await create({ name: 'To delete' });
    const profile = await admin.post(`/admin/v2/resource/${id}/profile/`, { resource_type: 'local', name: 'holds it' });
    expect((await admin.delete(`/admin/v2/resource/${id}/`)).status).toBe(422);
    expect((await admin.delete(`/admin/v2/profile/${profile.body.id}/`)).status).toBe(204);
    expect((await admin.delete(`/admin/v2/resource/${id}/`)).status).toBe(204);
    expect((await admin.delete(`/admin/v2/resource/${id}/`)).status).toBe(404);
    expect((await admin.get(`/admin/v2/resource/${id}/`)).status).toBe(404);
  });

  it('of a cluster keep their configuration in its stored form', async () => {
    const cluster = await startService({ settings: { SERVICE_BACKEND_RUNNER: 'slurm_ssh' } });
    const { status, body } = await cluster.admin.post('/admin/v2/resource/', slurm({ shebang_line: '#!/bin/bash' }));
    expect(status).toBe(201);
    expect(body).not.toHaveProperty('shebang_line');
    expect(body.jobs_runner_config.default_slurm_config).toMatchObject({
      partition: 'main',
      mem: 100,
      shebang_line: '#!/bin/bash',
      gres: null,
    });
    expect(body.jobs_runner_config.gpu_slurm_config).toMatchObject({ partition: 'gpu', shebang_line: '#!/bin/bash' });
    expect(body.jobs_runner_config.batching_config.max_mem_per_job).toBe(1000);
    const again = await cluster.admin.put(`/admin/v2/resource/${body.id}/`, body);
    expect([again.status, again.body]).toEqual([200, body]);
    expect((await cluster.admin.post('/admin/v2/resource/', local())).status).toBe(422);
  });
});

describe('profiles', () => {
  it('belong to a resource of their type and have unique names', async () => {
    const resource = await create({ name: 'With profiles' });
    const path = `/admin/v2/resource/${resource}/profile/`;
    const { status, body } = await admin.post(path, { resource_type: 'local', name: ' P 1 ', id: 77, resource_id: 99 });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      name: 'P 1',
      resource_id: resource,
      resource_type: 'local',
      username: null,
      ssh_key_path: null,
      jobs_remote_dir: null,
      tasks_remote_dir: null,
      pixi_cache_dir: null,
    });
    expect((await admin.post(path, { resource_type: 'local', name: 'P 1' })).status).toBe(422);
    const ssh = {
      resource_type: 'slurm_ssh',
      name: 'S',
      username: 'u',
      ssh_key_path: '/k',
      jobs_remote_dir: '/j',
      tasks_remote_dir: '/t',
    };
    const mismatch = await admin.post(path, ssh);
    expect([mismatch.status, typeof mismatch.body.detail]).toEqual([422, 'string']);
    expect((await admin.post('/admin/v2/resource/987654/profile/', ssh)).status).toBe(404);
    expect((await admin.get(path)).body).toEqual([body]);
    expect((await admin.get('/admin/v2/profile/')).body).toContainEqual(body);
    expect((await admin.get(`/admin/v2/profile/${body.id}/`)).body).toEqual(body);
    expect((await admin.get('/admin/v2/resource/987654/profile/')).status).toBe(404);

    const renamed = await admin.put(`/admin/v2/profile/${body.id}/`, { ...body, name: 'P 2', resource_id: 12_345 });
    expect([renamed.status, renamed.body]).toEqual([200, { ...body, name: 'P 2' }]);
    expect((await admin.put(`/admin/v2/profile/${body.id}/`, ssh)).status).toBe(422);
    await admin.post(path, { resource_type: 'local', name: 'P 3' });
    expect((await admin.put(`/admin/v2/profile/${body.id}/`, { resource_type: 'local', name: 'P 3' })).status).toBe(
      422,
    );
    expect((await admin.put('/admin/v2/profile/987654/', { resource_type: 'local', name: 'P 9' })).status).toBe(404);
  });

  it('are kept while somebody has them', async () => {
    const resource = await create({ name: 'For a user' });
    const { body } = await admin.post(`/admin/v2/resource/${resource}/profile/`, {
      resource_type: 'local',
      name: 'Used',
    });
    const { id } = await service.person({ profile_id: body.id });
    expect((await admin.delete(`/admin/v2/profile/${body.id}/`)).status).toBe(422);
    await admin.patch(`/auth/users/${id}/`, { profile_id: null });
    expect((await admin.delete(`/admin/v2/profile/${body.id}/`)).status).toBe(204);
    expect((await admin.delete(`/admin/v2/profile/${body.id}/`)).status).toBe(404);
  });
});
