/**
 * Whose account collects a package for a cluster behind sudo: the person's own, or one that the resource names. Either way
 * tasks of every type run as the person.
 */
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, describe, expect, it, onTestFailed } from 'vitest';

import type { JsonObject, TaskGroup } from '@service/contract';

import { dataFolder, type Flow, SCRIPTED, until } from '../../packages/server/test/support/lab.ts';
import { oneIn } from '../../packages/server/test/support/long.ts';
import { addAccount, removeAccount } from '../support/accounts.ts';
import type { Deployment } from '../support/deployment.ts';
import { everyTask } from '../support/every-task.ts';
import { submit } from '../support/faults.ts';
import { blockOf } from '../support/manual-texts.ts';
import { buildWheel, manifest, uploadForm } from '../support/wheels.ts';
import { openClusterDeployment } from './support/cluster-deployment.ts';
import { must } from './support/commands.ts';

const RULE = '/etc/sudoers.d/service-test-accounts';
const builder = addAccount();
afterAll(() => {
  rmSync(RULE, { force: true });
  removeAccount(builder);
});

const ownerOf = async (path: string) => (await must(['stat', '-c', '%U', path])).trim();
const idsOf = async (name: string) =>
  Promise.all((['-u', '-g'] as const).map(async (flag) => Number(await must(['id', flag, name]))));

/** Lets the service run anything as an account, which sites decide about. */
function allow(account: string): void {
  writeFileSync(RULE, `svcuser ALL=(${account}) NOPASSWD: ALL\n`, { mode: 0o440 });
}

it('the rules of sudo can be checked as the manual says', async () => {
  const { text } = blockOf('docs/operate/slurm.md', 'sbatch --wrap');
  const asService = ['setpriv', '--reuid=svcuser', '--regid=svcuser', '--init-groups', '--inh-caps=-all'];
  expect(await must([...asService, 'sh', '-euc', text])).toMatch(/^Submitted batch job \d+\n$/);
});

interface FlowTask {
  id: number;
  name: string;
  type: string;
  input_types: JsonObject;
  output_types: JsonObject;
}

const tasksOf = ({ db }: Deployment, flow: Flow): Promise<FlowTask[]> =>
  db
    .selectFrom('workflow_tasks')
    .innerJoin('tasks', 'tasks.id', 'workflow_tasks.task_id')
    .select(['workflow_tasks.id', 'tasks.name', 'tasks.type', 'tasks.input_types', 'tasks.output_types'])
    .where('workflow_tasks.workflow_id', '=', flow.id)
    .orderBy('workflow_tasks.order')
    .execute();

/** A package with the tasks of a workflow, which do what their arguments say. */
function packageOf(name: string, tasks: FlowTask[]): FormData {
  const list = tasks.map(({ name, type, input_types, output_types }) => ({
    ...{ name, type, input_types, output_types },
    ...(type === 'parallel' ? {} : { executable_non_parallel: 'task.py' }),
    ...(/^(parallel|compound|converter_compound)$/.test(type) ? { executable_parallel: 'task.py' } : {}),
  }));
  const files = {
    [`${name}/__init__.py`]: '',
    [`${name}/task.py`]: readFileSync(SCRIPTED, 'utf8'),
    [`${name}/__FRACTAL_MANIFEST__.json`]: manifest(list),
  };
  return uploadForm(buildWheel(dataFolder(), { name, files }));
}

async function collect({ lab }: Deployment, form: FormData): Promise<TaskGroup> {
  const { client } = lab.owner;
  const asked = await client.raw('/api/v2/task/collect/pip/', { method: 'POST', body: form });
  expect([asked.status, asked.text]).toEqual([202, asked.text]);
  const { id, taskgroupv2_id } = asked.body as { id: number; taskgroupv2_id: number };
  const ended = await until(
    'the end of the collection',
    async () => {
      const { body } = await client.get(`/api/v2/task-group/activity/${id}/`);
      const { status, log } = body as { status: string; log: string };
      return status === 'OK' || status === 'failed' ? { status, log } : undefined;
    },
    100,
  );
  expect([ended.status, ended.log]).toEqual(['OK', ended.log]);
  return (await client.get(`/api/v2/task-group/${taskgroupv2_id}/`)).body as TaskGroup;
}

/** The images of a dataset, whatever the folder is called. */
const imagesOf = async ({ lab }: Deployment, dataset: number) =>
  (await lab.images(dataset)).map((image) => JSON.stringify(image)).sort();

describe.each(
  oneIn(
    2,
    [
      { who: 'the person', account: 'alice', named: null },
      { who: 'the account of the resource', account: builder.name, named: builder.name },
    ],
    1,
  ),
)('a package that $who collected', ({ account, named }) => {
  it('has tasks of every type, which run as the person', async () => {
    allow(account);
    const deployment = await openClusterDeployment({
      type: 'slurm_sudo',
      settings: { SERVICE_PACKAGE_INDEX: 'none' },
    });
    onTestFailed(() => console.error(deployment.output()));
    try {
      const { lab, db } = deployment;
      const tasks_local_dir = join(lab.root, 'packages');
      mkdirSync(tasks_local_dir);
      chmodSync(tasks_local_dir, 0o755);
      const [uid, gid] = await idsOf(account);
      chownSync(tasks_local_dir, uid!, gid!);
      const python = { default_version: '3.11', versions: { '3.11': '/usr/bin/python3' }, pip_cache_dir: null };
      const tasks_python_config = JSON.stringify({ ...python, account: named });
      await db
        .updateTable('resources')
        .set({ tasks_local_dir, tasks_python_config })
        .where('id', '=', lab.resource_id)
        .execute();

      // as it is with tasks that nobody collected
      const flow = await everyTask(lab);
      const plain = await lab.dataset();
      expect((await lab.end(await submit(deployment, flow, plain), 100)).status).toBe('done');
      const expected = await imagesOf(deployment, plain);
      expect(expected.length).toBeGreaterThan(6);

      const tasks = await tasksOf(deployment, flow);
      expect(new Set(tasks.map(({ type }) => type)).size).toBe(5);
      const group = await collect(deployment, packageOf('every_type', tasks));
      expect(await ownerOf(group.path!)).toBe(account);
      for (const { id, name } of tasks) {
        const task_id = group.task_list.find((task) => task.name === name)!.id;
        await db.updateTable('workflow_tasks').set({ task_id }).where('id', '=', id).execute();
      }

      const dataset = await lab.dataset();
      const since = Date.now() / 1000;
      const job = await lab.end(await submit(deployment, flow, dataset), 100);
      expect([job.status, job.log]).toEqual(['done', job.log]);
      expect(await imagesOf(deployment, dataset)).toEqual(expected);
      const starts = lab.starts().filter(({ time }) => time > since);
      expect(new Set(starts.map(({ task }) => task)).size).toBe(tasks.length);
      const [alice] = await idsOf('alice');
      expect(statSync(job.working_dir_user as string).uid).toBe(alice);
    } finally {
      await deployment.close();
    }
  }, 300_000);
});
