/** What an import is for: people work on in the new service with what they had in the old one. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';

import { LONG } from '../packages/server/test/support/long.ts';
import { clientOf } from '../packages/server/test/support/server.ts';
import { importScene, signIn } from './support/importing.ts';
import { startService } from './support/processes.ts';
import { buildWheel, goodFiles } from './support/wheels.ts';

const scene = importScene();
const { folder } = scene;

describe.runIf(LONG)('an imported package', () => {
  it('is switched off and on again: its environment is the one that pip made for the old service', async () => {
    const tasks = join(folder, 'packages');
    const path = join(tasks, '2/hello/1.0.0');
    const venv = join(path, 'venv');
    mkdirSync(path, { recursive: true });
    const built = buildWheel(folder, { name: 'hello', files: goodFiles('hello') });
    const archive = join(path, basename(built));
    copyFileSync(built, archive);
    const version = execFileSync('python3', ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], {
      encoding: 'utf8',
    }).trim();
    const python = join(venv, 'bin/python');
    execFileSync('python3', ['-m', 'venv', venv, '--copies']);
    execFileSync(python, ['-m', 'pip', 'install', '-q', '--no-index', archive]);
    const env_info = execFileSync(python, ['-m', 'pip', 'freeze', '--all'], { encoding: 'utf8' });
    writeFileSync(join(path, 'fractal_task_group_id.txt'), '7');
    const versions = {
      default_version: version,
      versions: { [version]: execFileSync('which', ['python3'], { encoding: 'utf8' }).trim() },
    };
    await scene.from.query('update resource set tasks_local_dir = $1, tasks_python_config = $2', [
      tasks,
      JSON.stringify(versions),
    ]);
    await scene.from.add('taskgroupv2', {
      id: 7,
      pkg_name: 'hello',
      origin: 'wheel-file',
      path,
      venv_path: venv,
      archive_path: archive,
      python_version: version,
      env_info,
    });
    const script = execFileSync(python, ['-c', 'import hello, os; print(os.path.dirname(hello.__file__))'], {
      encoding: 'utf8',
    }).trim();
    await scene.from.add('taskv2', { id: 77, taskgroupv2_id: 7, command_parallel: `${python} ${script}/hello.py` });
    expect(await scene.run([])).toMatchObject({ code: 0, err: '' });

    const service = startService(['--port', '0'], {
      environment: { ...scene.environment, SERVICE_DATA_DIR: join(folder, 'package-data') },
    });
    try {
      const [, url] = await service.said(/answers at (http:\/\/\S+)/);
      const ann = await signIn(url!, 'ann@example.org');
      const act = async (action: string) => {
        const asked = await ann.post(`/api/v2/task-group/7/${action}/`);
        expect([asked.status, asked.text]).toEqual([202, asked.text]);
        const { id } = asked.body as { id: number };
        const activity = async () =>
          (await ann.get(`/api/v2/task-group/activity/${id}/`)).body as { status: string; log: string };
        await expect.poll(async () => (await activity()).status, { timeout: 90_000 }).not.toMatch(/pending|ongoing/);
        const { status, log } = await activity();
        expect([action, status, log]).toEqual([action, 'OK', log]);
      };
      await act('deactivate');
      expect([existsSync(venv), existsSync(archive)]).toEqual([false, true]);
      expect((await ann.get('/api/v2/task-group/7/')).body).toMatchObject({ active: false });
      await act('reactivate');
      expect((await ann.get('/api/v2/task-group/7/')).body).toMatchObject({ active: true });
      expect([existsSync(python), existsSync(join(script, 'hello.py'))]).toEqual([true, true]);
    } finally {
      service.process.kill('SIGTERM');
      await service.ended;
    }
  }, 300_000);
});

describe('the imported lab', () => {
  it('works on: people sign in with their passwords, read what they had, and run their workflow', async () => {
    const place = join(folder, 'lab');
    mkdirSync(place);
    await scene.from.query(`update resource set jobs_local_dir = '${place}/jobs', tasks_local_dir = '${place}/tasks'`);
    await scene.from.add('linkuserprojectv2', { project_id: 1, user_id: 1, is_verified: true, permissions: 'r' });
    const source = await scene.from.query(`select id, name from projectv2`);
    expect(await scene.run([])).toMatchObject({ code: 0, err: '' });

    const service = startService(['--port', '0'], {
      environment: { ...scene.environment, SERVICE_DATA_DIR: join(place, 'data') },
    });
    try {
      const [, url] = await service.said(/answers at (http:\/\/\S+)/);
      const [admin, ann, bob] = await Promise.all(
        ['admin@example.org', 'ann@example.org', 'bob@example.org'].map((email) => signIn(url!, email)),
      );
      expect((await ann!.get('/api/v2/project/')).body).toMatchObject(source);
      expect((await admin!.get('/api/v2/project/1/')).status).toBe(200);
      expect((await bob!.get('/api/v2/project/1/')).status).toBe(403);
      const token = await new SignJWT({ aud: ['fastapi-users:auth'] })
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject('2')
        .setExpirationTime('1h')
        .sign(new TextEncoder().encode(scene.environment['JWT_SECRET_KEY']));
      expect((await clientOf(url!, token).get('/auth/current-user/')).body).toMatchObject({ email: 'ann@example.org' });
      const images = await ann!.post('/api/v2/project/1/dataset/1/images/query/', {});
      expect(images.text).toContain('12345678901234567890');
      expect(images.text).toContain('1.50');
      expect((images.body as { total_count: number }).total_count).toBe(3);
      const workflow = (await ann!.get('/api/v2/project/1/workflow/1/')).body as { task_list: { id: number }[] };
      expect(workflow.task_list.map(({ id }) => id)).toEqual([1, 2]);
      for (const path of [
        '/api/v2/project/1/job/',
        '/api/v2/project/1/job/1/',
        '/api/v2/project/1/job/1/timeline/',
        '/api/v2/project/1/job/1/workflow/',
        '/api/v2/project/1/status/run/?dataset_id=1&workflowtask_id=1',
        '/api/v2/project/1/status/run/1/units/?dataset_id=1&workflowtask_id=1',
        '/api/v2/project/1/status/run/2/units/?dataset_id=1&workflowtask_id=2',
        '/api/v2/task-group/',
        '/api/v2/task-group/activity/',
        '/api/v2/workflow-template/',
      ]) {
        expect([path, (await ann!.get(path)).status]).toEqual([path, 200]);
      }

      const submitted = await ann!.post('/api/v2/project/1/job/submit/?workflow_id=1&dataset_id=1', {
        first_task_index: 0,
        last_task_index: 0,
      });
      expect([submitted.status, submitted.text]).toEqual([202, submitted.text]);
      const { id } = submitted.body as { id: number };
      expect(id).toBe(101);
      await expect
        .poll(async () => ((await ann!.get(`/api/v2/project/1/job/${id}/`)).body as { status: string }).status, {
          timeout: 60_000,
        })
        .toBe('done');
      expect(await scene.administer('select min(id) as first from history_units where id > 6', scene.target)).toEqual([
        { first: 101 },
      ]);
    } finally {
      service.process.kill('SIGTERM');
      await service.ended;
    }
  });
});
