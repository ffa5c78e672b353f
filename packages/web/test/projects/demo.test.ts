import { describe, expect, test } from 'vitest';

import { type DemoOffer, DemoProblem, freeName, makeDemo, unfinishedDemo } from '../../src/lib/projects/demo.ts';

const workflow = (name: string, dataset: string, ends: 'done' | 'failed') => ({
  dataset,
  ends,
  workflow: { name, description: '', task_list: [] },
  plate: { plate_name: 'demo', layout: { rows: 1, columns: 1 } },
});

const OFFER: DemoOffer = {
  project: 'Demo',
  package: { pkg_name: 'demo-tasks', version: '0.1.0', file_name: 'demo_tasks-0.1.0-py3-none-any.whl' },
  workflows: [workflow('Measure', 'Plate', 'done'), workflow('Fails', 'Plate 2', 'failed')],
};

interface Thing {
  id: number;
  name: string;
}

/** An API with a memory; collections take two looks. */
function service(
  before: { groups?: object[]; activities?: object[]; projects?: Thing[]; ends?: 'OK' | 'failed' } = {},
) {
  const calls: string[] = [];
  const told: string[] = [];
  let id = 100;
  let looks = 0;
  const projects: Thing[] = [...(before.projects ?? [])];
  const datasets: (Thing & { project: number })[] = [];
  const workflows: (Thing & { project: number })[] = [];
  const jobs: { id: number; query: unknown }[] = [];
  const groups: object[] = [...(before.groups ?? [])];
  const activities: object[] = [...(before.activities ?? [])];
  const collection = { id: 7, pkg_name: 'demo-tasks', version: '0.1.0', status: 'pending', steps: [], log: null };
  const answers: Record<string, (given: never) => unknown> = {
    'tasks.listTaskGroups': () => [['demo-tasks', groups]],
    'tasks.listActivities': () => activities,
    'tasks.collectPip': ({ body }: { body: FormData }) => {
      expect((body.get('file') as File).name).toBe(OFFER.package.file_name);
      activities.push(collection);
      return collection;
    },
    'tasks.reactivateTaskGroup': () => collection,
    'tasks.getActivity': () => {
      looks += 1;
      if (looks < 2)
        return {
          ...collection,
          status: 'ongoing',
          steps: [
            { name: 'folder', status: 'OK' },
            { name: 'package', status: 'ongoing' },
          ],
        };
      activities.length = 0;
      groups.push({ id: 1, pkg_name: 'demo-tasks', version: '0.1.0', active: true });
      return { ...collection, status: before.ends ?? 'OK', log: 'the log' };
    },
    'projects.listProjects': () => projects,
    'projects.createProject': ({ body }: { body: { name: string } }) => {
      const made = { id: ++id, name: body.name };
      projects.push(made);
      return made;
    },
    'projects.listDatasets': ({ params }: { params: { project_id: number } }) =>
      datasets.filter(({ project }) => project === params.project_id),
    'projects.listWorkflows': ({ params }: { params: { project_id: number } }) =>
      workflows.filter(({ project }) => project === params.project_id),
    'projects.createDataset': (given: { params: { project_id: number }; body: { name: string } }) => {
      const made = { id: ++id, name: given.body.name, project: given.params.project_id };
      datasets.push(made);
      return made;
    },
    'projects.importWorkflow': (given: { params: { project_id: number }; body: { name: string } }) => {
      const made = { id: ++id, name: given.body.name, project: given.params.project_id };
      workflows.push(made);
      return made;
    },
    'jobs.listJobs': () => jobs,
    'jobs.submitJob': ({ query }: { query: unknown }) => {
      jobs.push({ id: ++id, query });
      return jobs.at(-1);
    },
  };
  let failing: string | undefined;
  const parts = {
    call: ((name: string, given: never) => {
      if (name === failing) return Promise.reject(new Error('gone'));
      calls.push(name);
      return Promise.resolve(answers[name]!(given));
    }) as never,
    offer: () => Promise.resolve(OFFER),
    wheel: () => Promise.resolve(new Blob(['wheel'])),
    wait: () => Promise.resolve(),
    tell: (step: string, { state, note }: { state: { look: string }; note?: string | undefined }) =>
      void told.push(`${step} ${state.look}${note === undefined ? '' : `: ${note}`}`),
  };
  return {
    parts,
    calls,
    told,
    projects,
    datasets,
    workflows,
    jobs,
    fail: (name?: string) => (failing = name),
  };
}

describe('the demo', () => {
  test('is made step by step', async () => {
    const { parts, told, jobs, datasets, workflows } = service();
    const place = await makeDemo(parts);
    expect(told).toEqual([
      'tasks running',
      'tasks running: Waiting for its turn',
      'tasks running: Step 2 of 2: package',
      'tasks done: demo-tasks 0.1.0',
      'project running',
      'project done: Demo',
      'workflow running',
      'workflow done: Measure, Fails',
      'run running',
      'run done',
    ]);
    expect(datasets.map(({ name }) => name)).toEqual(['Plate', 'Plate 2']);
    const { project_id, ...query } = place;
    expect(jobs).toEqual([{ id: expect.any(Number) as number, query }]);
    expect(place).toEqual({ project_id, workflow_id: workflows[0]!.id, dataset_id: datasets[0]!.id });
  });

  test('pressed twice is one demo', async () => {
    const { parts, calls, projects, jobs, workflows } = service();
    const first = await makeDemo(parts);
    calls.length = 0;
    expect(await makeDemo(parts)).toEqual(first);
    expect([projects.length, workflows.length, jobs.length]).toEqual([1, 2, 1]);
    expect(calls.filter((name) => /create|import|collect|submit/.test(name))).toEqual([]);
  });

  test.each(['projects.createDataset', 'projects.importWorkflow', 'jobs.submitJob'])(
    'interrupted at %s it is completed',
    async (name) => {
      const { parts, projects, datasets, workflows, jobs, fail } = service();
      fail(name);
      await expect(makeDemo(parts)).rejects.toThrow('gone');
      fail();
      await makeDemo(parts);
      expect([projects.length, datasets.length, workflows.length, jobs.length]).toEqual([1, 2, 2, 1]);
    },
  );

  test('takes tasks that are there, also those of a collection that goes on, and wakes those that sleep', async () => {
    const group = { id: 4, pkg_name: 'demo-tasks', version: '0.1.0', active: true };
    const there = service({ groups: [group] });
    await makeDemo(there.parts);
    expect(there.calls).not.toContain('tasks.collectPip');
    const going = service({ activities: [{ id: 7, version: '0.1.0', status: 'ongoing', steps: [] }] });
    await makeDemo(going.parts);
    expect(going.calls).not.toContain('tasks.collectPip');
    const asleep = service({ groups: [{ ...group, active: false }] });
    await makeDemo(asleep.parts);
    expect(asleep.calls).toContain('tasks.reactivateTaskGroup');
  });

  test('a project of that name with something else in it is left alone', async () => {
    const { parts, projects, datasets } = service({ projects: [{ id: 1, name: 'Demo' }] });
    datasets.push({ id: 9, name: 'My plate', project: 1 });
    const { project_id } = await makeDemo(parts);
    expect(projects.map(({ name }) => name)).toEqual(['Demo', 'Demo 2']);
    expect(project_id).not.toBe(1);
  });

  test('a collection that fails is told with its log', async () => {
    const { parts, told } = service({ ends: 'failed' });
    const failure = await makeDemo(parts).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DemoProblem);
    expect((failure as DemoProblem).log).toBe('the log');
    expect(told.at(-1)).toBe('tasks failed');
  });

  test('one that was left half-made is recognised in the list', () => {
    const job = { id: 1 } as never;
    expect(unfinishedDemo([{ name: 'Demo', last_job: null }])).toBe(true);
    expect(unfinishedDemo([{ name: 'Demo', last_job: job }])).toBe(false);
    expect(
      unfinishedDemo([
        { name: 'Demo', last_job: null },
        { name: 'Mine', last_job: null },
      ]),
    ).toBe(false);
    expect(unfinishedDemo([])).toBe(false);
  });

  test('the next free name', () => {
    expect(freeName('Demo', [])).toBe('Demo');
    expect(freeName('Demo', ['Demo', 'Demo 2'])).toBe('Demo 3');
  });
});
