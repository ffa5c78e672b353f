/** Every block of code in the manual is known to a test. What is not a command is read here by the programs that it is written for. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

import { describe, expect, it } from 'vitest';

import { accounts } from '@service/contract';

import { readRetry } from '../packages/server/src/engine/slurm/retry.ts';
import { createLogging } from '../packages/server/src/logging/index.ts';
import { readSettings } from '../packages/server/src/settings/index.ts';
import { readManifest } from '../packages/server/src/tasks/manifest.ts';
import { ALL, KNOWN } from './support/manual-blocks.ts';
import { exchanged, runBlock, SUDO } from './support/manual-commands.ts';
import { blockOf, blocksOf, PAGES } from './support/manual-texts.ts';
import { newFolder } from './support/mounted.ts';
import { ROOT } from './support/processes.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const fits = (words: string, text: string) => words === ALL || text.includes(words);

/** A tool of the system, which lies where only root looks for commands. */
function tool(name: string, ...args: string[]) {
  const { status, stdout, stderr, error } = spawnSync(name, args, {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` },
  });
  if (error) throw error;
  return { status, said: `${stdout}${stderr}` };
}

describe('every block of code', () => {
  it('is known to one test', () => {
    const blocks = PAGES.flatMap((page) => blocksOf(page));
    expect(blocks.length).toBeGreaterThan(60);
    const unclear = blocks
      .map(({ page, text }) => ({
        page,
        text,
        tests: KNOWN.filter((one) => one.page === page && fits(one.words, text)).map(({ test }) => test),
      }))
      .filter(({ tests }) => tests.length !== 1);
    expect(unclear).toEqual([]);
    const gone = KNOWN.filter(({ page, words }) => blocksOf(page).filter(({ text }) => fits(words, text)).length === 0);
    expect(gone).toEqual([]);
  });

  it('is named in that test', () => {
    const unnamed = KNOWN.filter(({ page, words, test }) => {
      const source = existsSync(join(ROOT, test)) ? read(test) : '';
      return !source.includes(`'${page}'`) || !source.includes(`'${words}'`.replace(/^''$/, ''));
    });
    expect(unnamed).toEqual([]);
  });

  it('is fenced, and no fence is left open', () => {
    const indented = PAGES.filter((page) =>
      /^[^\s>*\-|].*\n\n {4}\S/m.test(read(page).replace(/^( *)```[^]*?^\1```$/gm, '')),
    );
    expect(indented).toEqual([]);
    const fences = PAGES.filter((page) => (read(page).match(/^ *```/gm) ?? []).length !== 2 * blocksOf(page).length);
    expect(fences).toEqual([]);
  });
});

describe('for people with a checkout', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const BUILT_IN = new Set(['ci']);
  const npmIn = (text: string) =>
    [...text.matchAll(/\bnpm (?:run )?([a-z:]+)/g)].map(([, name]) => name!).filter((name) => !BUILT_IN.has(name));

  it('the README begins as the quick start does', () => {
    const { text } = blockOf('README.md', 'npm start -- --demo');
    expect(text).toBe(blockOf('docs/quick-start.md', 'npm start -- --demo').text);
  });

  it.each([
    ['README.md', 'npm ci && npm test', 1],
    ['CONTRIBUTING.md', 'npm run check ', 6],
  ])('%s names scripts of npm: %s', (page, words, count) => {
    const named = npmIn(blockOf(page, words).text);
    expect(named).toHaveLength(count);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it('an operation is written as it is', () => {
    const { text } = blockOf('docs/architecture.md', 'export const getGroup');
    const written = Object.fromEntries(
      [...text.matchAll(/^ {2}(\w+): '(.*)',$/gm)].map(([, name, value]) => [name!, value!]),
    );
    expect(Object.keys(written)).toEqual(['id', 'method', 'path', 'access', 'tag', 'summary']);
    expect(accounts.getGroup).toMatchObject(written);
  });

  it('the steps of a job are those of the sources', () => {
    const { text } = blockOf('docs/architecture.md', 'submit   checks');
    const steps = [...text.matchAll(/^\w+/gm)].map(([step]) => step);
    expect(steps).toEqual(['submit', 'plan', 'run', 'settle']);
    for (const file of ['submit.ts', 'execution/plan.ts', 'execution/settle.ts'])
      expect([file, existsSync(join(ROOT, 'packages/server/src/jobs', file))]).toEqual([file, true]);
  });

  it('the web client is started as the page of the reverse proxy says', () => {
    const shown = blockOf('docs/web.md', 'npm run build:web').text.trim().split('\n');
    const there = blockOf('docs/operate/proxy.md', 'npm run build:web').text.replaceAll(/\\\n\s*/g, '');
    for (const word of shown.flatMap((line) => line.split(' '))) expect(there).toContain(word.replace(/=http.*$/, '='));
  });

  it('a running site can be tested', () => {
    const { text } = blockOf('docs/web.md', 'SITE=');
    const [, project, file] = /--project (\w+) (\S+)/.exec(text)!;
    expect(read('vitest.config.ts')).toContain(`name: '${project}'`);
    expect(existsSync(join(ROOT, file!))).toBe(true);
    const setup = globSync('packages/web/test/site/*.ts', { cwd: ROOT }).map(read).join('');
    for (const [, name] of text.matchAll(/(\w+)=/g)) expect([name, setup.includes(name!)]).toEqual([name, true]);
  });
});

describe('the service reads', () => {
  it('what switches a warm start off', () => {
    const manifest = JSON.parse(blockOf('docs/authors/index.md', '"manifest_version"').text) as { task_list: object[] };
    const task = JSON.parse(blockOf('docs/authors/warm-start.md', '"warm_start"').text) as object;
    const changed = { ...manifest, task_list: [{ ...manifest.task_list[0], ...task }] };
    expect(readManifest(JSON.stringify(changed))).toMatchObject({ manifest: { task_list: [task] } });
  });

  it('how often a unit is tried again', () => {
    const { retry } = JSON.parse(blockOf('docs/operate/slurm-jobs.md', 'mem_factor').text) as { retry: object };
    expect(readRetry(retry)).toMatchObject({ retry: { times: 2, mem_factor: 2, max_mem: 64_000, time_factor: 1.5 } });
  });

  it('where a provider of accounts is', () => {
    const variables = parseEnv(blockOf('docs/operate/sign-in.md', 'OAUTH_CLIENT_NAME').text);
    const { oauth } = readSettings((name) => variables[name]);
    expect(oauth).toMatchObject(variables);
  });

  it('who logs what to where', () => {
    const folder = newFolder('manual-logging');
    const configFile = join(folder, 'logging.yaml');
    const block = blockOf('docs/logging.md', 'RotatingFileHandler');
    writeFileSync(configFile, exchanged(block, { '/var/log/service': folder }));
    const logging = createLogging({ level: 20, configFile });
    logging.logger('access').debug('GET /api/alive/');
    logging.logger('lifespan.startup').warning('it starts');
    const lines = (name: string) => readFileSync(join(folder, name), 'utf8').trim().split('\n');
    expect(lines('service.log')).toEqual([
      expect.stringMatching(/^[-\d]+ [:,\d]+ - lifespan\.startup - WARNING - it starts$/),
    ]);
    expect(lines('access.json').map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { message: 'GET /api/alive/' },
    ]);
  });
});

describe('the system reads', () => {
  it.each([
    ['docs/operate/slurm.md', 'Defaults:service'],
    ['docs/operate/security.md', 'NOPASSWD'],
  ])('sudo rules of %s', (page, words) => {
    const file = join(newFolder('manual-sudoers'), 'service');
    writeFileSync(file, blockOf(page, words).text, { mode: 0o440 });
    chmodSync(file, 0o440);
    expect(tool('visudo', '-cf', file)).toEqual({ status: 0, said: `${file}: parsed OK\n` });
  });

  it('the sudo rules that the tests of the cluster have', () => {
    const [, rule] = blockOf('docs/operate/slurm.md', 'Defaults:service').text.trim().split('\n');
    const there = rule!.replace('service', 'svcuser').replace('imaging', '$GROUP');
    expect(read('tests/cluster/support/users.sh').split('\n')).toContain(there);
  });

  it('the unit of systemd', () => {
    const folder = newFolder('manual-systemd');
    const block = blockOf('docs/operate/systemd.md', 'ExecStart=');
    expect(block.text).toMatch(/^# \/etc\/systemd\/system\/service\.service\n/);
    const unit = join(folder, 'service.service');
    mkdirSync(folder, { recursive: true });
    writeFileSync(unit, exchanged(block, { '/srv/service': ROOT }));
    expect(tool('systemd-analyze', 'verify', '--man=no', unit)).toEqual({ status: 0, said: '' });
    const settings = read('docs/settings.md');
    for (const [, name] of block.text.matchAll(/[ =](SERVICE_\w+)=/g)) expect(settings).toContain(`\`${name}\``);
  });

  it('how an account for tasks is made', () => {
    const folder = newFolder('manual-account');
    const block = blockOf('docs/operate/security.md', 'useradd');
    const done = runBlock(block, { folder, standIns: { sudo: SUDO, useradd: 'echo "$@" >made' } });
    expect(done).toEqual({ code: 0, out: '', err: '' });
    expect(readFileSync(join(folder, 'made'), 'utf8')).toBe('--system --create-home tasks\n');
    const settings = parseEnv(readFileSync(join(folder, '.service_server.env'), 'utf8'));
    expect(readSettings((name) => settings[name]).app).toMatchObject({ SERVICE_TASKS_ACCOUNT: 'tasks' });
    const options = spawnSync('useradd', ['--help'], { encoding: 'utf8', env: { PATH: '/usr/sbin:/usr/bin' } }).stdout;
    for (const option of ['--system', '--create-home']) expect(options).toContain(option);
  });
});
