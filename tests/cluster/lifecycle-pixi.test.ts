/** What pixi installs on the other machine is installed by one Slurm job, whatever Slurm and the connection do meanwhile. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { afterEach, beforeAll, describe, expect, it } from 'vitest';

import { dataFolder } from '../../packages/server/test/support/lab.ts';
import { jobOver, squeue, tidy } from './support/cluster.ts';
import { now, sshCommands } from './support/counters.ts';
import { failing, killSshConnections, losingAnswers, stale, type Undo } from './support/faults.ts';
import { asUser, folderOf } from './support/commands.ts';
import { type Bench, type Collector, openBench } from './support/task-groups.ts';

const PACKAGE = 'src/mock_pixi_tasks';
const FILES: Record<string, string> = {
  'pyproject.toml': '[project]\nname = "mock-pixi-tasks"\n\n[tool.pixi.workspace]\nplatforms = ["osx-64"]\n',
  'pixi.lock': 'version: 6 # brought along\n',
  [`${PACKAGE}/__init__.py`]: '',
  [`${PACKAGE}/hello.py`]: 'print("hello")\n',
  [`${PACKAGE}/__FRACTAL_MANIFEST__.json`]: JSON.stringify({
    manifest_version: '2',
    task_list: [{ name: 'Say hello', executable_parallel: 'hello.py' }],
  }),
};

let bench: Bench;
let alice: Collector;
let versions = 0;
/** While this file is there, jobs wait before their first command. */
const gate = join(folderOf('alice'), 'gate');
const faults: Undo[] = [];
const archives = dataFolder();

beforeAll(async () => {
  bench = await openBench();
  alice = await bench.person('slurm_ssh', { preamble: [`while [ -e '${gate}' ]; do sleep 0.1; done`] });
});
afterEach(async () => {
  rmSync(gate, { force: true });
  for (const undo of faults.splice(0)) await undo();
  await tidy();
});

function archiveForm(left: string[] = [], others: Record<string, string> = {}): FormData {
  const filename = `mock_pixi_tasks-1.0.${++versions}.tar.gz`;
  const place = mkdtempSync(join(archives, 'archive-'));
  const top = filename.replace(/\.tar\.gz$/, '');
  for (const [path, text] of Object.entries({ ...FILES, ...others })) {
    if (left.includes(path)) continue;
    mkdirSync(dirname(join(place, top, path)), { recursive: true });
    writeFileSync(join(place, top, path), text);
  }
  execFileSync('tar', ['czf', join(place, filename), '-C', place, top]);
  const form = new FormData();
  form.append('file', new File([readFileSync(join(place, filename))], filename));
  return form;
}

/** A collection whose job waits at the gate, and the number of the job. */
async function waiting() {
  writeFileSync(gate, '');
  const answer = await alice.collect(archiveForm(), 'pixi');
  const { log } = await alice.said(answer, /Slurm job \d+: RUNNING/);
  return { answer, job: Number(/Slurm job (\d+): RUNNING/.exec(log)![1]) };
}

const pathOf = () => join(alice.base, String(alice.id), 'mock-pixi-tasks', `1.0.${versions}`);
const outputOf = async (command: string) => asUser('bob', ['sh', '-c', command]);
/** The jobs that a collection had, by the numbers in its log. */
const jobsIn = (log: string) => [...new Set([...log.matchAll(/Slurm job (\d+): /g)].map(([, id]) => Number(id)))];
const stateOf = async (job: number) => (await jobOver(job)).map(({ state }) => state);

describe('an archive', () => {
  it('is installed by one job, deactivated, reactivated, reset and deleted', async () => {
    const since = now();
    const { activity, group } = await alice.collected(archiveForm(), 'pixi');
    const path = pathOf();
    expect(group).toMatchObject({ path, origin: 'pixi', venv_path: null, active: true });
    const jobs = jobsIn(activity.log);
    expect(jobs).toHaveLength(1);
    expect((await squeue()).filter(({ job }) => job === jobs[0])).toMatchObject([
      { user: 'alice', state: 'COMPLETED' },
    ]);
    // nothing of it runs where people log in
    expect(sshCommands(since).filter(({ command }) => /bin\/pixi/.test(command))).toEqual([]);
    const files = readdirSync(join(path, 'scripts')).map((name) => name.replace(/^\d+/, 'epoch'));
    expect(files.sort()).toEqual(
      ['err.txt', 'out.txt', 'submit.sh', 'success.txt'].map((end) => `epoch_collect-${end}`),
    );
    const submitted = readdirSync(join(path, 'scripts')).find((name) => name.endsWith('submit.sh'))!;
    expect(readFileSync(join(path, 'scripts', submitted), 'utf8')).toContain(`--job-name=collect-${activity.id}-`);
    // what it printed, to either side
    expect(activity.log).toContain('Installed with 2 threads, frozen: yes');
    expect(activity.log).toContain(' WARN The feature (test');
    expect(activity.steps.map(({ name, status }: { name: string; status: string }) => `${name}: ${status}`)).toEqual(
      [
        'connect',
        'folder',
        'extract',
        'project file',
        'install',
        'interpreter',
        'bytecode',
        'tasks',
        'permissions',
      ].map((name) => `${name}: OK`),
    );
    const command = group.task_list[0].command_parallel;
    expect(await outputOf(command)).toMatchObject({ code: 0, stdout: 'hello\n' });

    expect((await alice.act(group.id, 'deactivate')).status).toBe('OK');
    expect(existsSync(join(path, 'source_dir'))).toBe(false);
    const on = await alice.act(group.id, 'reactivate');
    expect([on.status, jobsIn(on.log).length]).toEqual(['OK', 1]);
    expect(await outputOf(command)).toMatchObject({ code: 0, stdout: 'hello\n' });
    await alice.act(group.id, 'deactivate');
    const again = await alice.reset(group.id, 'pixi');
    expect([again.status, jobsIn(again.log).length]).toEqual(['OK', 1]);
    expect(await alice.group(group.id)).toMatchObject({ active: true, task_list: group.task_list });
    expect(await outputOf(command)).toMatchObject({ code: 0, stdout: 'hello\n' });
    expect((await alice.act(group.id, 'delete')).status).toBe('OK');
    expect(existsSync(dirname(path))).toBe(false);
  });

  it('that cannot be installed fails with what pixi said, and leaves nothing', async () => {
    const failed = await alice.outcome(await alice.collect(archiveForm(['pixi.lock']), 'pixi'));
    expect([failed.status, failed.taskgroupv2_id]).toEqual(['failed', null]);
    expect(failed.log).toMatch(/Error: {3}× the lock-file .* does not exist/);
    expect(failed.log).toMatch(/Failed: The Slurm job \d+ did not work \(FAILED\): Error: .*does not exist\n$/);
    expect(await stateOf(jobsIn(failed.log)[0]!)).toEqual(['FAILED']);
    expect(existsSync(dirname(pathOf()))).toBe(false);

    const manifest = `${FILES['pyproject.toml']}[tool.pixi.dependencies]\nnosuchpackage = "==1.0"\n`;
    const unsolved = await alice.outcome(await alice.collect(archiveForm([], { 'pyproject.toml': manifest }), 'pixi'));
    expect(unsolved.log).toMatch(/\(FAILED\): .*No candidates were found for nosuchpackage ==1\.0/);
  });

  it('that Slurm does not take fails with what Slurm said', async () => {
    faults.push(await failing('sbatch', 'sbatch: error: Batch job submission failed: Invalid account'));
    const failed = await alice.outcome(await alice.collect(archiveForm(), 'pixi'));
    expect([failed.status, failed.log]).toEqual(['failed', expect.stringMatching(/Failed: .*Invalid account\n$/)]);
  });
});

describe('while the job runs', () => {
  it('a Slurm that does not answer is asked again, and never means that the job is over', async () => {
    const { answer, job } = await waiting();
    const undo = await failing('squeue', 'slurm_load_jobs error: Socket timed out on send/recv operation');
    faults.push(undo);
    await alice.said(answer, 'asking again: slurm_load_jobs error: Socket timed out');
    rmSync(gate);
    await jobOver(job);
    expect((await alice.said(answer, 'asking again')).status).toBe('ongoing');
    faults.splice(0);
    await undo();
    const over = await alice.outcome(answer);
    expect([over.status, jobsIn(over.log)]).toEqual(['OK', [job]]);
  });

  it('a connection that breaks costs nothing: the job goes on and is followed further', async () => {
    const { answer, job } = await waiting();
    await killSshConnections();
    rmSync(gate);
    const over = await alice.outcome(answer);
    expect([over.status, jobsIn(over.log), over.log.includes('starts over')]).toEqual(['OK', [job], false]);
    expect(over.log).toContain('Installed with 2 threads');
  });

  it('a marker that is seen late is waited for', async () => {
    const { answer, job } = await waiting();
    const undo = await stale(pathOf(), 'ssh');
    faults.push(undo);
    rmSync(gate);
    await alice.said(answer, `Slurm job ${job}: COMPLETED`);
    expect(existsSync(join(pathOf(), 'source_dir/project_python.sh'))).toBe(true);
    faults.splice(0);
    await undo();
    const over = await alice.outcome(answer);
    expect([over.status, over.log.includes('Installed with 2 threads')]).toEqual(['OK', true]);
  });

  it('a service that is stopped ends the job when it comes back, and starts over', async () => {
    const { answer, job } = await waiting();
    await bench.pause();
    expect((await squeue()).find((line) => line.job === job)).toMatchObject({ state: 'RUNNING' });
    bench.resume();
    await alice.said(answer, `Cancelling the Slurm job ${job}`);
    rmSync(gate);
    const over = await alice.outcome(answer);
    expect([over.status, await stateOf(job), jobsIn(over.log).length]).toEqual(['OK', ['CANCELLED'], 2]);
  });

  it('somebody who cancels it makes the collection fail, and nothing is left', async () => {
    const { answer, job } = await waiting();
    expect((await asUser('alice', ['scancel', String(job)])).code).toBe(0);
    const failed = await alice.outcome(answer);
    expect([failed.status, failed.log]).toEqual(['failed', expect.stringContaining('(CANCELLED)')]);
    expect(existsSync(pathOf())).toBe(false);
  });
});

describe('an answer of sbatch that is lost', () => {
  it('does not mean a second job', async () => {
    writeFileSync(gate, '');
    const undo = await losingAnswers(
      'sbatch',
      'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation',
    );
    faults.push(undo);
    const answer = await alice.collect(archiveForm(), 'pixi');
    await alice.said(answer, /asking again: .*Socket timed out[^]*Submitted the Slurm job \d+/);
    expect((await squeue()).filter(({ state }) => state === 'RUNNING' || state === 'PENDING')).toHaveLength(1);
    rmSync(gate);
    const over = await alice.outcome(answer);
    expect([over.status, jobsIn(over.log).length]).toEqual(['OK', 1]);
  });
});
