/**
 * A system without /proc, as macOS is: here one whose /proc is empty, for the service and all that it starts. What there is of
 * processes only `ps` tells, which looks into the /proc of everybody else.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';

import { until } from '../packages/server/test/support/lab.ts';
import { type Deployment, openDeployment, type Site } from './support/deployment.ts';
import { everyTask, storyOf } from './support/every-task.ts';
import { expectNothingLeft, startsIn, submitNew, submitParallel } from './support/faults.ts';
import { cleanEnvironment, ROOT, type Running, startCommand, temporaryFolder } from './support/processes.ts';

/** A look at processes from outside: the empty /proc is taken away for one command. */
const PS = `#!/bin/sh
exec unshare --mount sh -c 'umount /proc && exec /usr/bin/ps "$@"' ps "$@"
`;
const HIDE = 'mount -t tmpfs none /proc && exec "$@"';

const folder = temporaryFolder('without-proc');
const bin = join(folder, 'bin');
mkdirSync(bin);
writeFileSync(join(bin, 'ps'), PS);
chmodSync(join(bin, 'ps'), 0o755);

function startWithoutProc(args: string[], environment: Record<string, string>): Running {
  const node = join(ROOT, 'node_modules/.bin/node');
  const service = [node, join(ROOT, 'packages/server/bin/start.cjs'), ...args];
  const PATH = `${bin}:${cleanEnvironment()['PATH']}`;
  return startCommand('unshare', ['--mount', 'sh', '-c', HIDE, 'sh', ...service], {
    environment: { SERVICE_WEB_CLIENT: 'false', ...environment, PATH },
  });
}

function site(): Site {
  const data = join(folder, 'data');
  const root = join(folder, 'lab');
  mkdirSync(root);
  return { folder, data, root, start: startWithoutProc, lab: {}, runningJobs: join(data, 'running-jobs') };
}

describe.skipIf(process.getuid?.() !== 0)('on a system without /proc', () => {
  let deployment: Deployment;
  // tasks that the service has installed would start warm elsewhere
  beforeAll(async () => {
    deployment = await openDeployment({ database: 'given', origin: 'pypi', site: site() });
  });
  afterAll(() => deployment.close());

  it('jobs run to their end, also when the service is killed meanwhile, and no unit runs twice', async () => {
    onTestFailed(() => console.error(deployment.output()));
    const flow = await everyTask(deployment.lab);
    const id = await submitNew(deployment, flow);
    const { working_dir } = await deployment.lab.job(id);
    await until('some units', () => startsIn(deployment, working_dir).length > 4, 60);
    await deployment.kill();
    await deployment.start();
    expect(await deployment.lab.end(id, 100)).toMatchObject({ status: 'done' });
    await expectNothingLeft(deployment);
    const { history } = await storyOf(deployment, id);
    expect(new Set(startsIn(deployment, working_dir).map(({ out }) => out)).size).toBe(
      startsIn(deployment, working_dir).length,
    );
    expect(history.map(({ status }) => status)).not.toContain('failed');
  });

  it('a stop ends units with everything they started, and a lost worker is noticed', async () => {
    onTestFailed(() => console.error(deployment.output()));
    const stopped = await submitParallel(deployment, ['a', 'b'], { plan: { '*': { sleep: 600, spawn: 600 } } });
    const lost = await submitParallel(deployment, ['c', 'd'], {
      meta_parallel: { parallel_tasks_per_job: 1 },
      plan: { [deployment.lab.urlOf('c')]: { sleep: 600 } },
    });
    const { working_dir } = await deployment.lab.job(lost.id);
    const started = () => deployment.lab.starts().filter(({ args }) => JSON.stringify(args).includes('600'));
    await until('units of both jobs', () => started().length >= 3, 60);
    await until('the unit that is lost', () => startsIn(deployment, working_dir).length === 1);
    const workers = deployment.processes().filter((line) => line.includes('worker.pyz'));
    await deployment.lab.owner.client.get(`${deployment.lab.base}/job/${stopped.id}/stop/`);
    expect(await deployment.lab.end(stopped.id, 60)).toMatchObject({ status: 'failed', failure: { kind: 'stopped' } });
    const left = deployment.processes().filter((line) => workers.includes(line));
    expect(left).toHaveLength(1);
    process.kill(Number.parseInt(left[0]!), 'SIGKILL');
    expect(await deployment.lab.end(lost.id, 60)).toMatchObject({ status: 'failed' });
    await expectNothingLeft(deployment);
    expect((await storyOf(deployment, lost.id)).history).toMatchObject([
      { status: 'failed', cause: 'lost' },
      { status: 'done' },
    ]);
  });

  it('the embedded database is refused to root in a sentence', async () => {
    const refused = startWithoutProc(['--port', '0', '--data-dir', join(folder, 'refused')], {});
    expect(await refused.ended).toBe(1);
    expect(refused.output()).toContain('cannot be started by root on this system, which has no /proc. Start');
    expect(refused.output()).not.toMatch(/^\s+at /m);
  });
});
