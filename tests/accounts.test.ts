/** What people bring runs as an account that can do nothing to the service, however the service was started. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';

import type { Profile, Resource } from '@service/contract';

import { createRunAs } from '../packages/server/src/run-as/index.ts';
import { collectorFor, keeperFor } from '../packages/server/src/tasks/collector.ts';
import { until } from '../packages/server/test/support/lab.ts';
import { oneIn } from '../packages/server/test/support/long.ts';
import { PACKAGE, packProject, putPixi } from '../packages/server/test/support/pixi-project.ts';
import { addAccount, can, openAccountSite, removeAccount, type AccountSite } from './support/accounts.ts';
import { type Deployment, openDeployment } from './support/deployment.ts';
import { expectNothingLeft, submitParallel } from './support/faults.ts';
import { remove, startService, temporaryFolder } from './support/processes.ts';
import { buildWheel, goodFiles, uploadForm } from './support/wheels.ts';

interface Report {
  who: string;
  uid: number;
  pid: number;
  outcomes: Record<string, string>;
}

/** A program that tries to get at the service, and where it tells what came of it. */
function placeTrespasser(place: AccountSite) {
  const folder = join(place.site.folder, 'trespass');
  const reports = join(folder, 'reports');
  mkdirSync(reports, { recursive: true });
  chmodSync(reports, 0o777);
  const program = join(folder, 'trespass.py');
  copyFileSync(join(import.meta.dirname, 'support/trespass.py'), program);
  const told = (to: string): Report[] =>
    existsSync(join(reports, to))
      ? readFileSync(join(reports, to), 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Report)
      : [];
  const aim = (pid: number, files: string[]) => {
    const attempts = { pid, data: place.site.data, files };
    writeFileSync(join(folder, 'plan.json'), JSON.stringify({ attempts, reports }));
    for (const name of ['trespass.py', 'plan.json']) chmodSync(join(folder, name), 0o644);
  };
  return { folder, program, told, aim };
}

/** With root, which ends up with the same account, only in long runs. */
describe.each(oneIn(2, ['root', 'sudo'] as const, 1))('a service that is started by %s', (how) => {
  let place: AccountSite;
  let deployment: Deployment;
  let trespasser: ReturnType<typeof placeTrespasser>;
  let tasks: string;

  beforeAll(async () => {
    place = openAccountSite(how);
    trespasser = placeTrespasser(place);
    deployment = await openDeployment({ database: 'given', ...place });
    tasks = join(place.site.data, 'tasks');
    await deployment.db.updateTable('resources').set({ tasks_local_dir: tasks }).execute();
    // what the service keeps of somebody else, under names that are known
    const upload = join(place.site.data, 'uploads/of-another/upload.whl');
    mkdirSync(join(upload, '..'));
    writeFileSync(upload, 'theirs', { mode: 0o644 });
    const key = join(place.site.data, 'secrets/signing-key');
    writeFileSync(key, 'a key', { mode: 0o644 });
    const jobZip = join(deployment.lab.folders.jobs, 'another-job.zip');
    writeFileSync(jobZip, 'their logs', { mode: 0o600 });
    trespasser.aim(deployment.server().process.pid!, [upload, jobZip]);
  });
  afterAll(async () => {
    await deployment.close();
    place.close();
  });

  function expectRefused(reports: Report[]): void {
    expect(reports.length).toBeGreaterThan(0);
    for (const { uid, outcomes, who } of reports) {
      expect([who, uid]).toEqual([who, place.account.uid]);
      expect(Object.keys(outcomes).length).toBe(12);
      expect([who, Object.entries(outcomes).filter(([, what]) => what !== 'refused')]).toEqual([who, []]);
    }
  }

  const finished = async (id: number) => {
    const look = async () => (await deployment.lab.owner.client.get(`/api/v2/task-group/activity/${id}/`)).body;
    return until(
      'the activity',
      async () => {
        const now = await look();
        return ['OK', 'failed'].includes(now.status as string) && now;
      },
      110,
    );
  };

  /** What was collected is taken apart, put together again and removed; a file in it tells whether it is there. */
  async function expectLifecycle({ id }: { id: number }, file: string): Promise<void> {
    for (const [action, isThere] of [
      ['deactivate', false],
      ['reactivate', true],
      ['delete', false],
    ] as const) {
      const next = await deployment.lab.owner.client.post(`/api/v2/task-group/${id}/${action}/`, {});
      expect([action, next.status, next.text]).toEqual([action, 202, next.text]);
      const ended = await finished((next.body as { id: number }).id);
      expect([action, ended.status], ended.log).toEqual([action, 'OK']);
      expect([action, existsSync(file)]).toEqual([action, isThere]);
    }
  }

  it('a task can get at nothing of the service', async () => {
    onTestFailed(() => console.error(deployment.output()));
    const python = `import runpy; runpy.run_path(${JSON.stringify(trespasser.program)})["report"]("task", "task")`;
    const { id } = await submitParallel(deployment, ['a'], { plan: { '*': { python } } });
    const job = await deployment.lab.end(id, 60);
    expect(job.status, job.log).toBe('done');
    expectRefused(trespasser.told('task'));
    // one that runs for long shows whose the folders are
    const wait = join(place.site.root, 'wait');
    const next = await submitParallel(deployment, ['a'], { plan: { '*': { wait_for: wait } } });
    const { working_dir } = await deployment.lab.job(next.id);
    await until('the unit', () => deployment.lab.starts().some(({ out }) => out.startsWith(working_dir)));
    expect([statSync(working_dir).uid, statSync(working_dir).mode & 0o777]).toEqual([place.account.uid, 0o770]);
    expect(can(place.account, 'ls', working_dir)).toBe(true);
    writeFileSync(wait, '');
    expect(await deployment.lab.end(next.id, 60)).toMatchObject({ status: 'done' });
    await expectNothingLeft(deployment);
    // what is left is for the service alone
    expect([existsSync(working_dir), statSync(`${working_dir}.zip`).mode & 0o777]).toEqual([false, 0o600]);
    expect(can(place.account, 'cat', `${working_dir}.zip`)).toBe(false);
    const log = await deployment.lab.owner.client.get(`${deployment.lab.base}/job/${next.id}/download/`);
    expect(log.status).toBe(200);
  });

  it('neither can a process that keeps imports, and it is no other account’s', async () => {
    onTestFailed(() => console.error(deployment.output()));
    const script = join(trespasser.folder, 'warm_task.py');
    writeFileSync(script, 'import hostile_import\n\nhostile_import.tell()\n');
    writeFileSync(
      join(trespasser.folder, 'hostile_import.py'),
      'import os\nimport trespass\n\nIMPORTED = os.getpid()\ntrespass.report("warm", "import")\n\n\ndef tell():\n    print("imported by", IMPORTED, "run by", os.getpid())\n    trespass.report("warm", "unit")\n',
    );
    await deployment.db
      .updateTable('task_groups')
      .set({ origin: 'pypi' })
      .where('id', '=', deployment.lab.group)
      .execute();
    const { id } = await submitParallel(deployment, ['a', 'b', 'c'], { command: `/usr/bin/python3 ${script}` });
    const job = await deployment.lab.end(id, 60);
    expect(job.status, job.log).toBe('done');
    const told = trespasser.told('warm');
    expectRefused(told);
    const importers = new Set(told.filter(({ who }) => who === 'import').map(({ pid }) => pid));
    const units = told.filter(({ who }) => who === 'unit');
    expect([units.length, units.some(({ pid }) => importers.has(pid))]).toEqual([3, false]);
    const warm = readdirSync(join(place.site.data, 'warm')).filter((name) => name !== 'lease');
    expect(warm).toEqual([expect.stringMatching(new RegExp(`\\.${place.account.uid}$`))]);
    // another account that knows where the socket is cannot use it
    const stranger = addAccount();
    try {
      expect(can(stranger, 'ls', join(place.site.data, 'warm', warm[0]!))).toBe(false);
    } finally {
      removeAccount(stranger);
    }
    await deployment.db
      .updateTable('task_groups')
      .set({ origin: 'other' })
      .where('id', '=', deployment.lab.group)
      .execute();
  });

  it('neither can what a package brings: a .pth file, a setup.py', async () => {
    onTestFailed(() => console.error(deployment.output()));
    const { client } = deployment.lab.owner;
    const at = (who: string) => `import runpy; runpy.run_path("${trespasser.program}")["report"]("collect", "${who}")`;
    const source = join(trespasser.folder, 'source/hostile-dep-1.0');
    mkdirSync(source, { recursive: true });
    writeFileSync(
      join(source, 'setup.py'),
      `${at('setup.py')}\nfrom setuptools import setup\nsetup(name="hostile-dep", version="1.0", py_modules=[])\n`,
    );
    const archive = join(trespasser.folder, 'hostile-dep-1.0.tar.gz');
    expect(spawnSync('tar', ['-czf', archive, '-C', join(source, '..'), 'hostile-dep-1.0']).status).toBe(0);
    chmodSync(archive, 0o644);
    const wheel = buildWheel(trespasser.folder, {
      name: 'hostile',
      files: { ...goodFiles('hostile'), 'hostile.pth': `${at('.pth')}\n` },
      requires: [`hostile-dep @ file://${archive}`],
    });
    const asked = await client.raw('/api/v2/task/collect/pip/', { method: 'POST', body: uploadForm(wheel) });
    expect([asked.status, asked.text]).toEqual([202, asked.text]);
    const activity = await finished((asked.body as { id: number }).id);
    expect(activity.status, activity.log).toBe('OK');
    expect(activity.log).toContain(`Runs as the account ${place.account.name}`);
    const told = trespasser.told('collect');
    expect([...new Set(told.map(({ who }) => who))].sort()).toEqual(['.pth', 'setup.py']);
    expectRefused(told);
    const [group] = await deployment.db
      .selectFrom('task_groups')
      .selectAll()
      .where('pkg_name', '=', 'hostile')
      .execute();
    expect([statSync(group!.path!).uid, statSync(group!.venv_path!).uid]).toEqual([
      place.account.uid,
      place.account.uid,
    ]);
    expect(statSync(tasks).uid).toBe(place.account.uid);
    await expectLifecycle(group!, join(group!.venv_path!, 'bin/python'));
    expectRefused(trespasser.told('collect'));
    expect(existsSync(group!.path!)).toBe(false);
    expect(readdirSync(join(place.site.data, 'uploads'))).toEqual(['of-another']);
  });

  it('neither can a pixi project, whose tasks run as the account too', async () => {
    onTestFailed(() => console.error(deployment.output()));
    const { client } = deployment.lab.owner;
    const folder = join(trespasser.folder, 'pixi-project');
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    const versions = { '0.47.0': putPixi(folder, '0.47.0') };
    const tasks_pixi_config = JSON.stringify({ default_version: '0.47.0', versions });
    await deployment.db.updateTable('resources').set({ tasks_pixi_config }).execute();
    const script = `import sys\nsys.path.insert(0, ${JSON.stringify(trespasser.folder)})\nimport trespass\ntrespass.report("pixi", "task")\n`;
    const archive = packProject(folder, 'mock_pixi_tasks-1.2.3.tar.gz', {
      changes: { [`${PACKAGE}/tasks/work.py`]: script },
    });
    const body = new FormData();
    body.append('file', new File([readFileSync(archive)], 'mock_pixi_tasks-1.2.3.tar.gz'));
    const asked = await client.raw('/api/v2/task/collect/pixi/', { method: 'POST', body });
    expect([asked.status, asked.text]).toEqual([202, asked.text]);
    const activity = await finished((asked.body as { id: number }).id);
    expect(activity.status, activity.log).toBe('OK');
    expect(activity.log).toContain(`Runs as the account ${place.account.name}`);
    const { body: group } = await client.get(
      `/api/v2/task-group/${(asked.body as { taskgroupv2_id: number }).taskgroupv2_id}/`,
    );
    const environment = join(group.path as string, 'source_dir/.pixi/envs/default');
    expect([statSync(group.path as string).uid, statSync(environment).uid]).toEqual([
      place.account.uid,
      place.account.uid,
    ]);

    const { command_parallel } = (group.task_list as { name: string; command_parallel: string }[]).find(
      ({ name }) => name === 'Look',
    )!;
    const { id } = await submitParallel(deployment, ['a'], { command: command_parallel });
    const job = await deployment.lab.end(id, 60);
    expect(job.status, job.log).toBe('done');
    expectRefused(trespasser.told('pixi'));
    await expectLifecycle(group as { id: number }, join(environment, 'bin/python'));
    expect(existsSync(group.path as string)).toBe(false);
  });

  it('neither can an interpreter that somebody brings', async () => {
    onTestFailed(() => console.error(deployment.output()));
    const interpreter = join(trespasser.folder, 'python-of-mine');
    writeFileSync(
      interpreter,
      `#!/bin/sh\n/usr/bin/python3 ${trespasser.program} interpreter interpreter\necho ${trespasser.folder}\n`,
    );
    chmodSync(interpreter, 0o755);
    const { manifest } = { manifest: { manifest_version: '2', task_list: [], has_args_schemas: false } };
    const asked = await deployment.lab.owner.client.post('/api/v2/task/collect/custom/', {
      label: 'mine',
      version: '1',
      manifest,
      python_interpreter: interpreter,
      package_name: 'mine',
    });
    expect([asked.status, asked.text]).toEqual([201, asked.text]);
    expectRefused(trespasser.told('interpreter'));
  });

  it('a folder that the account can’t write to is refused before anything starts, with the command that changes it', async () => {
    const closed = join(place.site.root, 'closed');
    mkdirSync(closed, { mode: 0o755 });
    const flow = await deployment.lab.workflow([{ type: 'converter_non_parallel' }]);
    const dataset = await deployment.lab.dataset([], join(closed, 'new'));
    const refused = await deployment.lab.submit(flow, dataset);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain(
      `The account ${place.account.name}, which runs tasks here, can't write to ${closed}`,
    );
    const command = /Run as root: (.+)"/.exec(refused.text)![1]!;
    // the lab's own folder is the person's project folder
    expect(command).toBe(`chgrp -R ${place.account.gid} ${place.site.root} && chmod -R g+rwX ${place.site.root}`);
    expect(spawnSync('sh', ['-c', `chgrp ${place.account.gid} ${closed} && chmod g+rwX ${closed}`]).status).toBe(0);
    expect(await deployment.lab.run(flow, dataset)).toMatchObject({ status: 'done' });

    await deployment.db.updateTable('resources').set({ tasks_local_dir: closed }).execute();
    chmodSync(closed, 0o755);
    const wheel = buildWheel(trespasser.folder, { name: 'plain', files: goodFiles('plain') });
    const asked = await deployment.lab.owner.client.raw('/api/v2/task/collect/pip/', {
      method: 'POST',
      body: uploadForm(wheel),
    });
    await deployment.db.updateTable('resources').set({ tasks_local_dir: tasks }).execute();
    expect([asked.status, asked.text]).toEqual([
      422,
      expect.stringContaining(`can't write to ${closed}. Run as root: chgrp -R`),
    ]);
    expect(readdirSync(closed)).toEqual([]);
  });

  it('says nothing about it at the start, and nothing is to be seen on the overview', async () => {
    expect(deployment.output()).not.toContain('the account of the service');
    const token = await deployment.adminToken();
    const answer = await fetch(`${deployment.url}/admin/v2/overview/`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await answer.json()).toMatchObject({ warnings: [] });
  });
});

describe('without an account', () => {
  it('one line at the start says what that means and how to change it, and so does the overview', async () => {
    const deployment = await openDeployment({ database: 'given' });
    try {
      const lines = deployment
        .output()
        .split('\n')
        .filter((line) => line.includes('the account of the service'));
      expect(lines).toEqual([
        expect.stringMatching(
          /WARNING - Tasks and collections run as \w+, .*can read the service's secrets.*SERVICE_TASKS_ACCOUNT=tasks/,
        ),
      ]);
      const token = await deployment.adminToken();
      const answer = await fetch(`${deployment.url}/admin/v2/overview/`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const { warnings } = (await answer.json()) as { warnings: { text: string; change: string }[] };
      expect(warnings.length).toBeGreaterThan(0);
      expect(warnings[0]).toMatchObject({
        text: expect.stringContaining('act as an administrator'),
        change: 'SERVICE_TASKS_ACCOUNT=tasks',
      });
    } finally {
      await deployment.close();
    }
  });

  it.each(
    oneIn(3, [
      ['no-such-account', 'There is no account "no-such-account" on this machine. Create it as root: useradd'],
      ['root', '"root" is root. Name an account that owns nothing else.'],
      ['#0', '"#0" is not the name of an account.'],
    ]),
  )('the service does not start with %s as one', async (name, words) => {
    const folder = temporaryFolder('no-account');
    try {
      const service = startService(['--port', '0', '--data-dir', join(folder, 'data'), '--no-web'], {
        environment: { SERVICE_TASKS_ACCOUNT: name },
      });
      expect(await service.ended).toBe(1);
      expect(service.output()).toContain(words);
    } finally {
      remove(folder);
    }
  });

  it('an ordinary account is told which sudo rule and which group it needs', async () => {
    const place = openAccountSite('sudo');
    const start = async () => {
      const service = place.site.start(['--port', '0', '--data-dir', place.site.data], {
        SERVICE_TASKS_ACCOUNT: place.account.name,
      });
      expect(await service.ended).toBe(1);
      return service.output();
    };
    try {
      spawnSync('gpasswd', ['--delete', place.service.name, place.account.name]);
      expect(await start()).toContain(`usermod --append --groups ${place.account.name} ${place.service.name}`);
      spawnSync('rm', [`/etc/sudoers.d/${place.service.name}`]);
      expect(await start()).toContain(`: ${place.service.name} ALL=(${place.account.name}) NOPASSWD: ALL`);
    } finally {
      place.close();
    }
  });
});

describe('on a cluster that is reached through sudo, packages are collected', () => {
  const [person, builder] = [addAccount(), addAccount()];
  const folder = temporaryFolder('collector');
  chmodSync(folder, 0o755);
  afterAll(() => {
    remove(folder);
    for (const account of [person, builder]) removeAccount(account);
  });

  const tasks_local_dir = join(folder, 'tasks');
  const path = join(tasks_local_dir, '1/package/1.0');
  const where = (account: string | null, username: string) => ({
    resource: { type: 'slurm_sudo', tasks_local_dir, tasks_python_config: { account } } as unknown as Resource,
    profile: { username } as Profile,
  });
  const collector = async (account: string | null, username: string) => {
    const runAs = createRunAs({ setting: null, dataDir: folder, onUse: () => undefined });
    const found = await collectorFor(runAs, where(account, username), { path, python: '/usr/bin/python3' });
    return [found.account?.account.name, found.problem];
  };

  it('by the person, where they can write; else by the account of the resource; else by the service', async () => {
    mkdirSync(tasks_local_dir, { mode: 0o755 });
    expect(await collector(null, person.name)).toEqual([undefined, undefined]);
    expect(await collector(null, 'nobody-here')).toEqual([undefined, undefined]);
    expect(await collector(builder.name, person.name)).toEqual([
      builder.name,
      expect.stringContaining(`can't write to ${tasks_local_dir}. Run as root: chgrp -R ${builder.gid}`),
    ]);
    chownSync(tasks_local_dir, builder.uid, builder.gid);
    expect(await collector(builder.name, person.name)).toEqual([builder.name, undefined]);
    chownSync(tasks_local_dir, person.uid, person.gid);
    expect(await collector(builder.name, person.name)).toEqual([person.name, undefined]);
    expect(await collector('no-such-account', 'nobody-here')).toEqual([
      undefined,
      expect.stringContaining('There is no account "no-such-account"'),
    ]);
  });

  it('and are kept by whoever their folder belongs to', async () => {
    const runAs = createRunAs({ setting: null, dataDir: folder, onUse: () => undefined });
    mkdirSync(path, { recursive: true });
    const keeper = async () => {
      const { host, account } = await keeperFor(runAs, where(builder.name, person.name), path);
      return [account?.account.name, host === account];
    };
    chownSync(path, person.uid, person.gid);
    expect(await keeper()).toEqual([person.name, true]);
    chownSync(path, builder.uid, builder.gid);
    expect(await keeper()).toEqual([builder.name, true]);
    // files of the service are removed by the service, and what is in them runs as somebody else
    for (const place of [path, join(path, '..'), join(path, '../..'), tasks_local_dir]) chownSync(place, 0, 0);
    expect(await keeper()).toEqual([builder.name, false]);
    // but not where others can put another folder of the service there, or have done so
    for (const place of [join(path, '..'), tasks_local_dir]) {
      chownSync(place, person.uid, person.gid);
      expect(await keeper()).toEqual([builder.name, true]);
      chownSync(place, 0, builder.gid);
      expect(await keeper()).toEqual([builder.name, false]);
      chmodSync(place, 0o775);
      expect(await keeper()).toEqual([builder.name, true]);
      chmodSync(place, 0o755);
    }
    renameSync(join(path, '..'), join(path, '../../aside'));
    symlinkSync(folder, join(path, '..'));
    mkdirSync(join(folder, '1.0'));
    lchownSync(join(path, '..'), person.uid, person.gid);
    expect(await keeper()).toEqual([builder.name, true]);
  });
});
