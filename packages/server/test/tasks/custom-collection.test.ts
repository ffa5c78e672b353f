import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { findPackage } from '../../src/tasks/custom-collection.ts';
import { isAlive, until } from '../support/lab.ts';
import { addPerson, type Person } from '../support/plates.ts';
import { type Client, startService, type TestService } from '../support/server.ts';
import { addResourceAndProfile } from '../support/tasks.ts';

const URL = '/api/v2/task/collect/custom/';
const PYTHON = '/usr/bin/python3';

const folder = mkdtempSync(join(tmpdir(), 'service-custom-'));
const NOT_A_PROGRAM = join(folder, 'notes.txt');
writeFileSync(NOT_A_PROGRAM, '', { mode: 0o644 });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let service: TestService;
let owner: Person;
let client: Client;
let labels = 0;

const manifest = (tasks: object[] = [{ name: 'A', executable_parallel: 'a.py' }], fields: object = {}) => ({
  manifest_version: '2',
  task_list: tasks,
  ...fields,
});
const body = (fields: object = {}) => ({
  label: `Label ${++labels}`,
  version: '1',
  manifest: manifest(),
  python_interpreter: PYTHON,
  package_root: folder,
  ...fields,
});

/** A program that takes the place of an interpreter. */
function program(name: string, lines: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${lines}\n`);
  chmodSync(path, 0o755);
  return path;
}

beforeAll(async () => {
  service = await startService();
  owner = await addPerson(service, (await addResourceAndProfile(service)).profile_id);
  ({ client } = owner);
});

describe('collecting a package that is installed already', () => {
  it('makes its tasks in one group, in the order of the manifest', async () => {
    const tasks = [
      { name: 'B', executable_non_parallel: 'b.py', executable_parallel: '/abs/c.py', tags: ['x'] },
      { name: 'A', executable_parallel: 'a.py', type: 'parallel', args_schema_parallel: { type: 'object' } },
    ];
    const request = body({ label: ' Odd_Label ', version: '0.1', manifest: manifest(tasks, { authors: 'me' }) });
    const answer = await client.post(`${URL}?private=true`, request);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject([
      {
        name: 'B',
        type: 'compound',
        version: '0.1',
        command_non_parallel: `${PYTHON} ${folder}/b.py`,
        command_parallel: `${PYTHON} /abs/c.py`,
        tags: ['x'],
        authors: 'me',
      },
      { name: 'A', type: 'parallel', command_non_parallel: null, args_schema_parallel: { type: 'object' } },
    ]);
    const { body: group } = await client.get(`/api/v2/task-group/${answer.body[0].taskgroupv2_id}/`);
    expect(group).toMatchObject({ pkg_name: 'Odd_Label', version: '0.1', origin: 'other', path: null, active: true });
    expect(group.task_list).toEqual(answer.body);
    expect((await client.get('/api/v2/task-group/activity/')).body).toEqual([]);
    expect((await client.post(`${URL}?private=true`, request)).status).toBe(422);
  });

  it('takes a manifest without tasks', async () => {
    expect(await client.post(URL, body({ manifest: manifest([]) }))).toMatchObject({ status: 201, body: [] });
  });

  it.each([
    [{ manifest: { manifest_version: '1', task_list: [] } }],
    [{ manifest: manifest([{ name: 'A' }]) }],
    [{ manifest: manifest([{ name: '', executable_parallel: 'a' }]) }],
    [{ manifest: manifest([{ name: 'A', executable_parallel: 'a', category: '' }]) }],
    [{ manifest: manifest([{ name: 'A', executable_parallel: 'a', tags: ['x', 'x'] }]) }],
    [
      {
        manifest: manifest([{ name: 'A', executable_parallel: 'a', args_schema_parallel: {} }], {
          has_args_schemas: true,
        }),
      },
    ],
    [{ manifest: manifest([{ name: 'A', executable_parallel: 'a;b' }]) }],
    [{ manifest: manifest([{ name: 'A', executable_parallel: '' }]) }],
    [{ manifest: manifest([{ name: 'A\u0000', executable_parallel: 'a' }]) }],
    [{ package_root: null }],
    [{ package_name: 'json' }],
    [{ package_root: null, package_name: 'a;b' }],
    [{ package_root: null, package_name: ' ' }],
    [{ package_root: 'relative' }],
    [{ package_root: '/a/../b' }],
    [{ package_root: '/no/such/folder' }],
    [{ package_root: '/usr/bin/env' }],
    [{ python_interpreter: '/no/such/python' }],
    [{ python_interpreter: '/usr/bin' }],
    [{ python_interpreter: NOT_A_PROGRAM }],
    [{ python_interpreter: 'python3' }],
    [{ extra: 1 }],
  ])('refuses %j', async (fields) => {
    expect((await client.post(URL, body(fields))).status).toBe(422);
  });

  it('names the place in the manifest that makes no command', async () => {
    const tasks = [
      { name: 'A', executable_parallel: 'a.py' },
      { name: 'B', executable_non_parallel: 'b.py > c' },
    ];
    const { status, body: refusal } = await client.post(URL, body({ manifest: manifest(tasks) }));
    expect([status, refusal.detail]).toEqual([422, expect.stringMatching(/^task_list\.1\.executable_non_parallel: /)]);
  });

  it('is for members', async () => {
    expect((await service.anyone.post(URL, body())).status).toBe(401);
    expect((await service.admin.post(URL, body())).status).toBe(403);
    expect((await client.post(`${URL}?user_group_id=99999`, body())).status).toBe(404);
  });
});

describe('looking for a package by its name', () => {
  it('asks the interpreter', async () => {
    const answer = await client.post(URL, body({ package_root: null, package_name: 'json' }));
    expect(answer.status).toBe(201);
    expect(answer.body[0].command_parallel).toMatch(new RegExp(`^${PYTHON} /.*/json/a\\.py$`));
  });

  it.each(['no-such-package', 'sys', 'this', '.', 'json.', '-c'])('refuses %j', async (package_name) => {
    const { status, body: refusal } = await client.post(URL, body({ package_root: null, package_name }));
    expect([status, typeof refusal.detail]).toEqual([422, 'string']);
  });

  it.each([
    ['two lines', 'echo /a; echo /b'],
    ['nothing', 'true'],
    ['a relative path', 'echo a'],
    ['a failure', 'echo /a; exit 1'],
    ['without an end', 'while true; do echo /a; done'],
  ])('refuses a program that answers %s', async (name, lines) => {
    expect(await findPackage(program(name.replaceAll(' ', '-'), lines), 'x', 5000)).toBeUndefined();
  });

  it('gives the program an end, an argument instead of a shell, and none of the secrets', async () => {
    expect(await findPackage(program('slow', 'sleep 30; echo /late'), 'x', 200)).toBeUndefined();
    vi.stubEnv('A_SECRET', 'secret');
    const said = join(folder, 'said');
    await findPackage(
      program('tells', `env > ${said}; echo "$3" >> ${said}; pwd >> ${said}; echo /found`),
      'a-b',
      5000,
    );
    const text = readFileSync(said, 'utf8');
    expect(text).not.toContain('secret');
    expect(text).toMatch(/a_b\n\/\n$/);
    vi.unstubAllEnvs();
  });

  it('leaves the service answering meanwhile', async () => {
    const [begun, gate] = [join(folder, 'begun'), join(folder, 'gate')];
    const slow = program('slow-to-find', `echo $$ > ${begun}; until [ -e ${gate} ]; do sleep 0.05; done; echo /found`);
    const collecting = client.post(URL, body({ python_interpreter: slow, package_root: null, package_name: 'x' }));
    const pid = await until('the program', () => existsSync(begun) && Number(readFileSync(begun, 'utf8')));
    expect((await client.get('/api/alive/')).status).toBe(200);
    expect(isAlive(pid)).toBe(true);
    writeFileSync(gate, '');
    expect((await collecting).status).toBe(201);
  });
});

describe('on a resource that is reached by SSH', () => {
  it('needs package_root and looks at nothing', async () => {
    const { db } = service.database;
    const place = await addResourceAndProfile(service);
    const batching_config = {
      target_num_jobs: 1,
      max_num_jobs: 1,
      target_cpus_per_job: 1,
      max_cpus_per_job: 1,
      target_mem_per_job: 1,
      max_mem_per_job: 1,
    };
    const config = { default_slurm_config: { partition: 'main' }, batching_config };
    await db
      .updateTable('resources')
      .set({
        type: 'slurm_ssh',
        host: 'host',
        jobs_slurm_python_worker: '/w',
        jobs_runner_config: JSON.stringify(config),
      })
      .where('id', '=', place.resource_id)
      .execute();
    await db
      .updateTable('profiles')
      .set({
        resource_type: 'slurm_ssh',
        username: 'u',
        ssh_key_path: '/key',
        jobs_remote_dir: '/jobs',
        tasks_remote_dir: '/tasks',
      })
      .where('id', '=', place.profile_id)
      .execute();
    const person = await addPerson(service, place.profile_id);
    const remote = { python_interpreter: '/remote/python', package_root: '/remote/pkg' };
    const collected = await person.client.post(URL, body(remote));
    expect([collected.status, collected.text]).toEqual([
      201,
      expect.stringContaining('/remote/python /remote/pkg/a.py'),
    ]);
    const named = await person.client.post(URL, body({ ...remote, package_root: null, package_name: 'x' }));
    expect([named.status, named.body.detail]).toEqual([422, expect.stringContaining('package_root')]);
  });
});
