/** The rules of the run dialog: where a job begins, which images it gets, what is sent, and how Reset loses nothing. */
import type { Dataset, Job, UserProfileInfo } from '@service/contract';
import { describe, expect, test, vi } from 'vitest';

import { invalidTasks } from '#lib/workflow/run/check.ts';
import { type Choices, effectsOf } from '#lib/workflow/run/effects.ts';
import { chosenCount, initialTypes, jobTypes, leftOut, lockedTypes, shareWords } from '#lib/workflow/run/images.ts';
import { nameProblem, obstacles, startRefusal } from '#lib/workflow/run/refusal.ts';
import { freeName, zarrFolderOf, resetAndRun } from '#lib/workflow/run/reset.ts';
import { shellLines } from '#lib/workflow/run/shell.ts';
import { submission } from '#lib/workflow/run/submission.ts';

import { step } from './things.ts';

describe('which images the first task gets', () => {
  const flow = {
    workflowtask_id: 2,
    current_type_filters: { corrected: true, is_3D: false },
    input_type_filters: { is_3D: true },
    output_type_filters: {},
  };
  const choice = {
    types: { corrected: true, is_3D: true },
    attributes: { plate: ['P1'] },
    status: ['failed' as const],
  };
  const counts = { all: 100, ofTypes: 60, byStatus: { done: 30, failed: 5, submitted: 0, unset: 5 } };

  test('types of the tasks before, overridden by those of the task', () => {
    expect(initialTypes(flow)).toEqual({ corrected: true, is_3D: true });
  });

  test('types of the task itself are locked by name, whether an image has them or not', () => {
    expect(lockedTypes(step(2, { type_filters: { labelled: true } }, { input_types: { is_3D: true } }))).toEqual({
      is_3D: true,
      labelled: true,
    });
  });

  test('what the service adds to the first task by itself does not narrow the later ones', () => {
    expect(jobTypes(initialTypes(flow), { is_3D: true }, flow)).toEqual({ corrected: true, is_3D: false });
    expect(jobTypes({ labelled: true }, { labelled: true }, undefined)).toEqual({});
    expect(jobTypes({ is_3D: true }, { is_3D: true }, flow)).toEqual({ is_3D: false });
  });

  test('each image that is left out has one reason', () => {
    expect(chosenCount(counts, choice)).toBe(5);
    expect(leftOut(counts, choice)).toEqual([
      { count: 40, words: 'without the types this task asks for (corrected true, is_3D true)' },
      { count: 20, words: 'outside the attribute filters (plate P1)' },
      { count: 35, words: 'with another status than failed' },
    ]);
    expect(leftOut({ ...counts, all: 40, ofTypes: 40 }, { ...choice, attributes: {}, status: [] })).toEqual([]);
  });

  test('counts in words', () => {
    expect(shareWords(384, 3072)).toBe('384 of 3\u202f072 images');
    expect(shareWords(3, 3)).toBe('All 3 images');
    expect(shareWords(1, 1)).toBe('The 1 image');
  });
});

describe('what is sent', () => {
  const request = {
    first: 3,
    last: undefined,
    workerInit: ' ',
    account: undefined,
    choice: undefined,
    jobTypes: {},
    laterTasksGetAll: true,
  };

  test('what is empty is left out', () => {
    expect(submission(request)).toEqual({ first_task_index: 3, attribute_filters: {}, type_filters: {} });
    expect(submission({ ...request, last: 4, workerInit: 'module load x', account: 'lab' })).toMatchObject({
      last_task_index: 4,
      worker_init: 'module load x',
      slurm_account: 'lab',
    });
  });

  test('a status filter is for the first task alone, or for the whole job', () => {
    const choice = { types: { a: true }, attributes: { plate: ['P1'], well: [] }, status: ['failed' as const] };
    expect(submission({ ...request, choice })).toMatchObject({
      attribute_filters: { plate: ['P1'] },
      first_task_image_status: ['failed'],
    });
    const whole = submission({ ...request, choice, laterTasksGetAll: false });
    expect(whole.attribute_filters).toMatchObject({ __wftask_dataset_image_status__: ['failed'] });
    expect(whole.first_task_image_status).toBeUndefined();
  });
});

describe('what the choices do, in words', () => {
  const choices: Choices = {
    isReset: false,
    dataset: 'Plate',
    first: { name: 'Segment', type: 'parallel' },
    from: 1,
    to: 3,
    of: 4,
    byStatus: { done: 4, failed: 2, submitted: 0, unset: 0 },
    statuses: [],
    laterTasksGetAll: true,
    hasAttributeFilters: false,
    hasTypeFilters: false,
    keepsOld: false,
  };
  const words = (given: Partial<Choices>) => effectsOf({ ...choices, ...given }).join('\n');

  test('which tasks run where', () => {
    expect(words({})).toMatch(/^Tasks 2 to 4 of 4 run on Plate\.$/m);
    expect(words({ to: 1 })).toMatch(/^Task 2 of 4 runs on Plate\.$/m);
  });

  test('images that are done run again, or stay as they are', () => {
    expect(words({})).toContain('4 images that are done for Segment run again.');
    expect(words({ statuses: ['failed'] })).not.toContain('run again.');
    expect(words({ statuses: ['failed'] })).toContain('4 images that are done for Segment stay as they are.');
  });

  test('how far a status filter reaches', () => {
    expect(words({ statuses: ['failed'] })).toContain('Later tasks get all images');
    expect(words({ statuses: ['failed'], laterTasksGetAll: false })).toContain('do not reach later tasks');
    expect(words({ statuses: ['failed'], to: 1 })).not.toContain('later tasks get');
  });

  test('tasks that do not run image by image have one status', () => {
    expect(words({ statuses: ['failed'], first: { name: 'Merge', type: 'compound' } })).toContain('share one status');
  });

  test('filters hold for all tasks', () => {
    expect(words({ hasAttributeFilters: true })).toContain('including images created during it');
    expect(words({ hasAttributeFilters: true, to: 1 })).not.toContain('attribute filters');
  });

  test('Reset says what is forgotten and what stays', () => {
    expect(words({ isReset: true, first: { name: 'Convert', type: 'converter_compound' } })).toMatch(
      /image list and history.*cleared.*Files on disk stay/,
    );
    expect(words({ isReset: true, keepsOld: true })).toContain('The old one stays as it is.');
  });
});

describe('what stands in the way', () => {
  const schema = { type: 'object', properties: { diameter: { type: 'integer' } }, required: ['diameter'] };
  const withSchema = { args_schema_parallel: schema, args_schema_version: 'pydantic_v2' };
  const tasks = [
    step(1),
    step(2, { args_parallel: { diameter: 3 } }, withSchema),
    step(3, { alias: 'Nuclei', args_parallel: { diameter: 'x' } }, withSchema),
    step(4, {}, withSchema),
  ];

  test('saved arguments that do not fit, by alias, in the range only', () => {
    const found = invalidTasks(tasks, 0, 3);
    expect(found.map(({ number, name }) => [number, name])).toEqual([
      [3, 'Nuclei'],
      [4, 'Task 4'],
    ]);
    expect(found[0]!.problems).toEqual([{ path: '/diameter', words: 'diameter: Enter a whole number.' }]);
    expect(found[1]!.problems.map(({ path }) => path)).toEqual(['/diameter']);
    expect(invalidTasks(tasks, 0, 1)).toEqual([]);
  });

  test('null is a value in the dialect that knows it', () => {
    const nullable = {
      type: 'object',
      properties: { label: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      required: ['label'],
    };
    const strict = { args_schema_parallel: nullable, args_schema_version: 'fractal_schema_v1' };
    const legacy = { ...strict, args_schema_version: 'pydantic_v2' };
    const args = { args_parallel: { label: null } };
    expect(invalidTasks([step(1, args, strict)], 0, 0)).toEqual([]);
    expect(invalidTasks([step(1, args, legacy)], 0, 0)).toHaveLength(1);
    expect(args.args_parallel).toEqual({ label: null });
  });

  const surroundings = {
    project: { permissions: 'rwx' as const, owner_email: 'anna@example.org' },
    user: { is_guest: false },
    info: { has_profile: true, prevent_new_submissions: false, resource_name: 'Cluster' } as UserProfileInfo,
    job: null,
    tasks: [step(1), step(2)],
    first: 0,
    last: 1,
  };
  const said = (given: Partial<Parameters<typeof obstacles>[0]>) =>
    obstacles({ ...surroundings, ...given }).map(({ words }) => words);

  test('rights, profile and a resource that takes nothing', () => {
    const { project, info } = surroundings;
    expect(said({})).toEqual([]);
    expect(said({ project: { ...project, permissions: 'rw' } }).join()).toContain('anna@example.org');
    expect(said({ user: { is_guest: true } }).join()).toContain('Guest');
    expect(said({ info: { ...info, has_profile: false } }).join()).toContain('no profile');
    expect(said({ info: { ...info, prevent_new_submissions: true } })).toEqual([
      'Cluster isn’t accepting new jobs right now. Try again later.',
    ]);
  });

  test('a job that runs on the dataset', () => {
    expect(said({ job: { id: 7, status: 'submitted' } })).toEqual([
      'Job 7 is running on this dataset. Wait until it ends, or stop it.',
    ]);
    expect(said({ job: { id: 7, status: 'failed' } })).toEqual([]);
  });

  test('all of it at once, with the tasks and fields it is about, of the range only', () => {
    const given = {
      ...surroundings,
      info: { ...surroundings.info, prevent_new_submissions: true },
      tasks: [step(1, { warning: 'Not active.' }), step(2, { warning: 'Not active.', alias: 'Two' }), tasks[2]!],
      first: 1,
      last: 2,
    };
    expect(obstacles(given)).toEqual([
      { words: 'Cluster isn’t accepting new jobs right now. Try again later.' },
      { task: { id: 2, number: 2, name: 'Two' }, words: 'Not active.' },
      {
        task: { id: 3, number: 3, name: 'Nuclei' },
        words: 'Arguments are missing or invalid.',
        problems: [{ path: '/diameter', words: 'diameter: Enter a whole number.' }],
      },
    ]);
  });

  test('the first reason that counts, with the next step', () => {
    const asked = {
      mode: 'next' as const,
      project: { owner_email: 'anna@example.org' },
      tasks: [step(1, {}, { type: 'converter_non_parallel' }), step(2, { alias: 'Nuclei' })],
      first: 1,
      dataset: { name: 'Plate', zarr_dir: '/data/plate', image_count: 4 },
      zarrFolder: undefined,
      newName: undefined,
      chosen: 4,
    };
    expect(startRefusal(asked)).toBeUndefined();
    expect(startRefusal({ ...asked, chosen: undefined })).toBeUndefined();
    expect(startRefusal({ ...asked, chosen: 0 })).toContain('No image reaches Nuclei');
    expect(startRefusal({ ...asked, dataset: { ...asked.dataset, image_count: 0 } })).toContain('has no images yet');
    expect(startRefusal({ ...asked, first: 0, chosen: 0 })).toBeUndefined();
    expect(startRefusal({ ...asked, first: undefined })).toBe('Choose the first task.');
    expect(startRefusal({ ...asked, tasks: [], first: undefined })).toContain('no tasks yet');
    const reset = { ...asked, mode: 'reset' as const, first: 0 };
    const zarrFolder = { project_dir: '/data', zarr_subfolder: 'plate' };
    expect(startRefusal(reset)).toContain('outside your own folders');
    expect(startRefusal({ ...reset, zarrFolder })).toBeUndefined();
    expect(startRefusal({ ...reset, zarrFolder, tasks: [step(2)] })).toContain('begins without images');
    expect(startRefusal({ ...reset, zarrFolder, newName: 'Plate' })).toBe(nameProblem('Plate', 'Plate'));
    expect(startRefusal({ ...reset, zarrFolder, newName: 'Plate_1' })).toBeUndefined();
  });
});

test('shell lines of the tasks in the range, each once', () => {
  const lines = { extra_lines: ['module load x'] };
  const tasks = [
    step(1, { meta_parallel: lines }),
    step(2, { meta_parallel: lines, meta_non_parallel: lines, alias: 'Nuclei' }),
    step(3, { meta_parallel: { mem: 3 } }),
  ];
  const asked = { tasks, first: 1, last: 2, changes: [], onCluster: true, email: 'anna@example.org' };
  const nuclei = { id: 2, number: 2, name: 'Nuclei', lines: [{ text: 'module load x' }], notes: [] };
  expect(shellLines(asked)).toEqual([nuclei]);
  expect(shellLines({ ...asked, onCluster: false })).toEqual([]);
});

describe('shell lines that somebody else changed', () => {
  const change = {
    workflowtask_id: 1,
    source: 'extra_lines' as const,
    added: ['module load y'],
    removed: ['module load x'],
    changed_by: 'bob@example.org',
    timestamp_changed: new Date(2026, 10, 17, 9, 30).toISOString(),
    timestamp_last_run: new Date(2026, 10, 16, 18, 0).toISOString(),
  };
  const tasks = [step(1, { meta_parallel: { extra_lines: ['module load y', 'umask 2'] } })];
  const asked = { tasks, first: 0, last: 0, onCluster: true, email: 'anna@example.org' };
  const now = new Date(2026, 10, 17, 12, 0).getTime();

  test('are marked, with who changed them and when', () => {
    expect(shellLines({ ...asked, changes: [change] }, now)).toMatchObject([
      {
        lines: [
          { text: 'module load y', change: 'added' },
          { text: 'umask 2' },
          { text: 'module load x', change: 'removed' },
        ],
        notes: [
          expect.stringMatching(/^bob@example.org changed lines today 9.30.*after you ran this task last \(yest/),
        ],
      },
    ]);
  });

  test.each([
    [{ timestamp_last_run: null }, /^You have not run these lines yet. bob@example.org wrote them today/],
    [{ timestamp_last_run: null, changed_by: null }, /^You have not run these lines yet\.$/],
    [{ changed_by: null, timestamp_changed: null }, /^Somebody changed lines, after you ran/],
    [{ source: 'command' as const, timestamp_last_run: null }, /not run this command yet. bob@example.org wrote it/],
  ])('in words: %j', (fields, words) => {
    const found = shellLines({ ...asked, changes: [{ ...change, ...fields }] }, now);
    expect(found.map(({ notes }) => notes)).toEqual([[expect.stringMatching(words)]]);
  });

  test('are of no interest where no scheduler reads them, and one’s own need no words; commands run everywhere', () => {
    expect(shellLines({ ...asked, changes: [change], onCluster: false }, now)).toEqual([]);
    const own = shellLines({ ...asked, changes: [{ ...change, changed_by: asked.email }] }, now);
    const marked = [{ text: 'module load y', change: 'added' }, { text: 'umask 2' }, { change: 'removed' }];
    expect(own).toMatchObject([{ lines: marked, notes: [] }]);
    const command = { ...change, source: 'command' as const, added: ['python x.py'], removed: [] };
    expect(shellLines({ ...asked, changes: [command], onCluster: false }, now)).toMatchObject([
      { lines: [{ text: 'python x.py', change: 'added' }] },
    ]);
  });
});

describe('Reset', () => {
  test.each([
    ['/data/user10/x', ['/data/user1', '/data/user10'], { project_dir: '/data/user10', zarr_subfolder: 'x' }],
    ['/data/user10/x', ['/data/user1'], undefined],
    ['/data/user1', ['/data/user1'], { project_dir: '/data/user1', zarr_subfolder: '.' }],
    ['/data/a/b/c', ['/data', '/data/a/'], { project_dir: '/data/a/', zarr_subfolder: 'b/c' }],
    ['s3://bucket/a/b', ['/bucket', 's3://bucket/a'], { project_dir: 's3://bucket/a', zarr_subfolder: 'b' }],
    ['/bucket/a', ['s3://bucket/a'], undefined],
  ])('%s in %j', (zarrDir, dirs, zarrFolder) => {
    expect(zarrFolderOf(zarrDir, dirs)).toEqual(zarrFolder);
  });

  test('a free name', () => {
    expect(freeName('Plate', ['Plate'])).toBe('Plate_1');
    expect(freeName('Plate_2', ['Plate', 'Plate_1', 'Plate_2'])).toBe('Plate_3');
  });

  const [created, old] = [{ id: 2 } as Dataset, { id: 1, name: 'Plate' }];
  const steps = () => ({
    create: vi.fn(() => Promise.resolve(created)),
    submit: vi.fn(() => Promise.resolve({ id: 7 } as Job)),
    remove: vi.fn(() => Promise.resolve()),
    old,
  });

  test('the new dataset and its job come first, then the old one goes', async () => {
    const given = steps();
    const { job, leftover } = await resetAndRun(given);
    expect([job.id, leftover]).toEqual([7, undefined]);
    expect(given.remove.mock.calls).toEqual([[old]]);
    expect(given.submit.mock.invocationCallOrder[0]).toBeLessThan(given.remove.mock.invocationCallOrder[0]!);
  });

  test('a refused dataset leaves everything as it was', async () => {
    const given = { ...steps(), create: () => Promise.reject(new Error('no')) };
    await expect(resetAndRun(given)).rejects.toThrow('no');
    expect(given.submit).not.toHaveBeenCalled();
    expect(given.remove).not.toHaveBeenCalled();
  });

  test('a refused job takes back the new dataset and keeps the old one', async () => {
    const given = { ...steps(), submit: () => Promise.reject(new Error('busy')) };
    await expect(resetAndRun(given)).rejects.toThrow('busy');
    expect(given.remove.mock.calls).toEqual([[created]]);
  });

  test('with a new name the old dataset stays', async () => {
    const given = { ...steps(), old: undefined };
    await resetAndRun(given);
    expect(given.remove).not.toHaveBeenCalled();
  });

  test('an old dataset that cannot be removed is said, and the job counts', async () => {
    const given = { ...steps(), remove: () => Promise.reject(new Error('It is used.')) };
    const { job, leftover } = await resetAndRun(given);
    expect(job.id).toBe(7);
    expect(leftover).toMatch(/Plate, could not be removed: It is used\./);
  });
});
