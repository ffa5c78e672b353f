/** What people run sees of the service's environment only what is named: an operator's variables may be secrets of any name. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { localHost, passOn } from '../../src/hosts/index.ts';
import { createProcedureRun } from '../../src/tasks/procedures/procedure-run.ts';
import { dataFolder, type Lab, openLab } from '../support/lab.ts';
import { startService, type TestService } from '../support/server.ts';

/** Things that operators have in the environment of a service, besides its settings. */
const HIDDEN = [
  'AWS_SECRET_ACCESS_KEY',
  'AWS_ACCESS_KEY_ID',
  'KUBECONFIG',
  'DATABASE_URL',
  'SENTRY_DSN',
  'SSH_AUTH_SOCK',
  'SMTP_PASS',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'SLURM_JWT',
  'MY_LAB_THING',
  'PUBLIC_GUEST_PASSWORD',
  'SERVICE_PACKAGE_INDEX',
  'SERVICE_TASK_ENVIRONMENT',
  'POSTGRES_USER',
  'HF_TOKEN',
];
const OF_INSTALLERS = ['PIP_INDEX_URL', 'UV_INDEX_PASSWORD', 'NETRC'];
const SEEN = ['PATH', 'LC_MESSAGES', 'OMP_NUM_THREADS', 'CUDA_VISIBLE_DEVICES', 'https_proxy', 'SLURM_CONF', 'TZ'];
const SECRET = 'nobody sees this';

let service: TestService;
let lab: Lab;

beforeAll(async () => {
  for (const name of [...HIDDEN, ...OF_INSTALLERS]) vi.stubEnv(name, SECRET);
  for (const name of SEEN) if (process.env[name] === undefined) vi.stubEnv(name, 'UTC');
  vi.stubEnv('LAB_MODELS', '/models');
  vi.stubEnv('LAB_TOKEN', SECRET);
  vi.stubEnv('LAB_KNOWN_TOKEN', 'named in full');
  service = await startService({
    settings: { SERVICE_DATA_DIR: dataFolder(), SERVICE_TASK_ENVIRONMENT: 'LAB_*, LAB_KNOWN_TOKEN,SERVICE_*' },
  });
  lab = await openLab(service);
});
afterAll(() => {
  vi.unstubAllEnvs();
  passOn(null);
});

function expectHarmless(environ: Record<string, string>): void {
  expect(Object.entries(environ).filter(([, value]) => value === SECRET)).toEqual([]);
  for (const name of SEEN) expect([name, environ[name]]).toEqual([name, process.env[name]]);
  expect([environ['LAB_MODELS'], environ['LAB_KNOWN_TOKEN']]).toEqual(['/models', 'named in full']);
}

describe('only what is named is seen', () => {
  it.each([true, false])('by a task, warm start: %s', async (warm_start) => {
    const step = { type: 'parallel' as const, plan: { '*': { environ: true } }, meta_parallel: { warm_start } };
    const job = await lab.run(await lab.workflow([step]), await lab.dataset([`a ${warm_start}`]));
    const file = lab.files(job).find((name) => name.endsWith('-log.txt'))!;
    const { environ } = JSON.parse(readFileSync(join(job.working_dir, file), 'utf8')) as {
      environ: Record<string, string>;
    };
    expectHarmless(environ);
    expect(environ['FRACTAL_CACHE_DIR']).toBe(join(lab.root, 'fractal/.fractal_cache'));
  });

  it('by an interpreter that a person names', async () => {
    const [python, seen] = [join(lab.root, 'python'), join(lab.root, 'seen')];
    writeFileSync(python, `#!/bin/sh\nenv -0 > ${seen}\necho /tmp\n`);
    chmodSync(python, 0o755);
    const manifest = {
      manifest_version: '2',
      task_list: [{ name: 't', type: 'parallel', executable_parallel: 't.py' }],
    };
    const body = { manifest, python_interpreter: python, label: 'x', version: '1', package_name: 'x' };
    expect((await lab.owner.client.post('/api/v2/task/collect/custom/', body)).status).toBe(201);
    const pairs = readFileSync(seen, 'utf8')
      .split('\0')
      .filter(Boolean)
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const);
    expectHarmless(Object.fromEntries(pairs));
  });

  it('by commands that install, which also see how installers are set up', async () => {
    const nothing = () => Promise.resolve();
    const run = createProcedureRun({
      host: localHost,
      name: 'collect',
      steps: [],
      log: '',
      save: nothing,
      remember: nothing,
    });
    const printed = await run.command(['env', '-0'], { quiet: true });
    await run.close();
    const names = printed.split('\0').map((pair) => pair.split('=')[0]);
    expect(names).toEqual(expect.arrayContaining([...OF_INSTALLERS, 'SSH_AUTH_SOCK', 'PATH']));
    expect(names.filter((name) => HIDDEN.includes(name!) && name !== 'SSH_AUTH_SOCK')).toEqual([]);
  });
});
