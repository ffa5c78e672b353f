/** Before a run: which shell lines somebody else changed since the caller ran them last, and how. */
import { beforeAll, describe, expect, it } from 'vitest';

import type { ShellChange } from '@service/contract';

import { dataFolder, type Flow, type Lab, openLab } from '../support/lab.ts';
import { addPerson, type Person, shareProject } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';
import { endJob } from '../support/tasks.ts';

let service: TestService;
let lab: Lab;
let anna: Person;
let bob: Person;
let emails: Record<'anna' | 'bob', string>;

beforeAll(async () => {
  service = await startService({ background: false, settings: { SERVICE_DATA_DIR: dataFolder() } });
  lab = await openLab(service);
  anna = lab.owner;
  bob = await addPerson(service, lab.profile_id);
  await shareProject(service, lab.project, bob, 'rwx', true);
  const { db } = service.database;
  const { id: user_group_id } = await db
    .selectFrom('user_groups')
    .select('id')
    .where('name', '=', 'All')
    .executeTakeFirstOrThrow();
  await db.updateTable('task_groups').set({ user_group_id }).where('id', '=', lab.group).execute();
  const emailOf = async (id: number) =>
    (await db.selectFrom('users').select('email').where('id', '=', id).executeTakeFirstOrThrow()).email;
  emails = { anna: await emailOf(anna.id), bob: await emailOf(bob.id) };
});

const path = (flow: Flow) => `${lab.base}/workflow/${flow.id}/pre-check/`;

const check = async (who: Person, flow: Flow): Promise<ShellChange[]> => {
  const { status, body } = await who.client.get(path(flow));
  expect(status).toBe(200);
  return (body as { shell_changes: ShellChange[] }).shell_changes;
};

const run = async (who: Person, flow: Flow): Promise<void> => {
  const query = { workflow_id: flow.id, dataset_id: await lab.dataset(['a']) };
  const { status, body } = await who.client.post(`${lab.base}/job/submit/`, {}, { query });
  expect(status).toBe(202);
  await endJob(service, (body as { id: number }).id);
};

const edit = async (who: Person, flow: Flow, at: number, body: object): Promise<void> => {
  const { status } = await who.client.patch(`${lab.base}/workflow/${flow.id}/wftask/${flow.steps[at]}/`, body);
  expect(status).toBe(200);
};

/** A workflow with a task of a package and lines of their author. */
async function flowBy(who: Person, lines: string[]): Promise<Flow> {
  const { db } = service.database;
  const flow = await lab.workflow([{ type: 'parallel' }]);
  const { task_id } = await db
    .selectFrom('workflow_tasks')
    .select('task_id')
    .where('id', '=', flow.steps[0]!)
    .executeTakeFirstOrThrow();
  const item = { task_id, meta_parallel: { extra_lines: lines } };
  const added = await who.client.post(`${lab.base}/workflow/${flow.id}/wftask/`, [item]);
  expect(added.status).toBe(201);
  const [{ id }] = added.body as [{ id: number }];
  await db.deleteFrom('workflow_tasks').where('id', '=', flow.steps[0]!).execute();
  await db.updateTable('workflow_tasks').set({ order: 0 }).where('id', '=', id).execute();
  return { id: flow.id, steps: [id] };
}

const lines = (found: ShellChange[]) => found.filter(({ source }) => source === 'extra_lines');

describe('lines of a workflow task', () => {
  it('that one never ran are told with who wrote them', async () => {
    const flow = await flowBy(bob, ['module load x']);
    expect(lines(await check(anna, flow))).toEqual([
      {
        workflowtask_id: flow.steps[0],
        source: 'extra_lines',
        added: ['module load x'],
        removed: [],
        changed_by: emails.bob,
        timestamp_changed: expect.stringMatching(/^\d{4}-/),
        timestamp_last_run: null,
      },
    ]);
  });

  it('are of no interest when one ran them as they are', async () => {
    const flow = await flowBy(bob, ['module load x']);
    await run(anna, flow);
    expect(await check(anna, flow)).toEqual([]);
    // who has not run them is told all the same
    expect(lines(await check(bob, flow))).toMatchObject([{ added: ['module load x'], timestamp_last_run: null }]);
  });

  it('that changed since are told as a difference, by the last who changed them', async () => {
    const flow = await flowBy(anna, ['module load x', 'umask 2']);
    await run(anna, flow);
    await edit(bob, flow, 0, { meta_parallel: { extra_lines: ['module load y', 'umask 2'] } });
    const [change, ...rest] = await check(anna, flow);
    expect(rest).toEqual([]);
    expect(change).toMatchObject({ added: ['module load y'], removed: ['module load x'], changed_by: emails.bob });
    expect(Date.parse(change!.timestamp_changed!)).toBeGreaterThan(Date.parse(change!.timestamp_last_run!));
  });

  it('keep their author when somebody changes something else', async () => {
    const flow = await flowBy(anna, ['module load x']);
    await edit(bob, flow, 0, { meta_parallel: { extra_lines: ['module load x'], mem: '2G' }, args_parallel: { a: 1 } });
    await edit(bob, flow, 0, { meta_parallel: { mem: '2G', extra_lines: ['module load x'] }, alias: 'Renamed' });
    expect(lines(await check(bob, flow))).toMatchObject([{ changed_by: emails.anna }]);
  });

  it('keep their author when somebody puts another task in their place', async () => {
    const flow = await flowBy(bob, ['module load x']);
    const other = await lab.workflow([{ type: 'parallel' }]);
    const { task_id } = await service.database.db
      .selectFrom('workflow_tasks')
      .select('task_id')
      .where('id', '=', other.steps[0]!)
      .executeTakeFirstOrThrow();
    const query = { task_id, workflow_task_id: flow.steps[0]! };
    const replaced = await anna.client.post(`${lab.base}/workflow/${flow.id}/wftask/replace-task/`, {}, { query });
    expect(replaced.status).toBe(201);
    expect(lines(await check(anna, flow))).toMatchObject([{ added: ['module load x'], changed_by: emails.bob }]);
  });

  it('in another order are a change; taken back they are none', async () => {
    const flow = await flowBy(anna, ['a', 'b']);
    await run(anna, flow);
    await edit(bob, flow, 0, { meta_parallel: { extra_lines: ['b', 'a'] } });
    expect(await check(anna, flow)).toMatchObject([{ added: ['b', 'a'], removed: [], changed_by: emails.bob }]);
    await edit(bob, flow, 0, { meta_parallel: { extra_lines: ['a', 'b'] } });
    expect(await check(anna, flow)).toEqual([]);
    await edit(bob, flow, 0, { meta_parallel: null });
    expect(await check(anna, flow)).toMatchObject([{ added: [], removed: ['a', 'b'] }]);
  });

  it('of before this was kept have no author', async () => {
    const { db } = service.database;
    const flow = await flowBy(bob, ['module load x']);
    const unknown = { shell_changed_by: null, shell_changed_at: null };
    await db.updateTable('workflow_tasks').set(unknown).where('id', '=', flow.steps[0]!).execute();
    expect(lines(await check(anna, flow))).toMatchObject([{ changed_by: null, timestamp_changed: null }]);
  });
});

describe('the command of a task that somebody added by hand', () => {
  const commands = (found: ShellChange[]) => found.filter(({ source }) => source === 'command');

  it('is told when it changed, with who changed it', async () => {
    const flow = await lab.workflow([{ type: 'parallel', command: 'echo one' }]);
    expect(commands(await check(bob, flow))).toMatchObject([{ added: ['echo one'], changed_by: emails.anna }]);
    await run(bob, flow);
    expect(await check(bob, flow)).toEqual([]);
    const { task_id } = await service.database.db
      .selectFrom('workflow_tasks')
      .select('task_id')
      .where('id', '=', flow.steps[0]!)
      .executeTakeFirstOrThrow();
    const change = { command_parallel: 'echo two' };
    expect((await anna.client.patch(`/api/v2/task/${task_id}/`, change)).status).toBe(200);
    expect(await check(bob, flow)).toMatchObject([
      { source: 'command', added: ['echo two'], removed: ['echo one'], changed_by: emails.anna },
    ]);
  });

  it('is that of who put another task in its place', async () => {
    const flow = await lab.workflow([{ type: 'parallel', command: 'echo one' }]);
    await run(anna, flow);
    const other = await lab.workflow([{ type: 'parallel', command: 'echo other' }]);
    const { task_id } = await service.database.db
      .selectFrom('workflow_tasks')
      .select('task_id')
      .where('id', '=', other.steps[0]!)
      .executeTakeFirstOrThrow();
    const query = { task_id, workflow_task_id: flow.steps[0]! };
    const replaced = await bob.client.post(`${lab.base}/workflow/${flow.id}/wftask/replace-task/`, {}, { query });
    expect(replaced.status).toBe(201);
    expect(await check(anna, flow)).toMatchObject([
      { source: 'command', added: ['echo other'], removed: ['echo one'], changed_by: emails.bob },
    ]);
  });

  it('is no news where it comes from a package', async () => {
    const { db } = service.database;
    const flow = await lab.workflow([{ type: 'parallel', command: 'echo one' }]);
    await db.updateTable('task_groups').set({ origin: 'pypi' }).where('id', '=', lab.group).execute();
    try {
      expect(await check(bob, flow)).toEqual([]);
    } finally {
      await db.updateTable('task_groups').set({ origin: 'other' }).where('id', '=', lab.group).execute();
    }
  });
});

it('is for who may read the workflow', async () => {
  const flow = await lab.workflow([{ type: 'parallel' }]);
  const stranger = await addPerson(service, lab.profile_id);
  expect((await stranger.client.get(path(flow))).status).toBe(403);
  expect((await service.anyone.get(path(flow))).status).toBe(401);
  expect((await anna.client.get(path({ id: 999_999, steps: [] }))).status).toBe(404);
});
