/** A lab in which much has happened: every kind of person, share, package, image and history that a database can have. */
import { type Existing, image } from '../support/existing-database.ts';

const day = (number: number) => `2025-04-${String(number).padStart(2, '0')}T10:00:00.5Z`;

async function addPeople({ add }: Existing): Promise<void> {
  await add('resource', {
    id: 2,
    type: 'slurm_ssh',
    host: 'cluster.example.org',
    jobs_slurm_python_worker: '/opt/python',
    jobs_poll_interval: 10,
    jobs_runner_config: { default_slurm_config: { partition: 'main', mem: '4G' }, gpu_slurm_config: null },
    tasks_pixi_config: { default_version: '0.54.1', versions: { '0.54.1': '/opt/pixi' } },
    prevent_new_submissions: true,
  });
  await add('profile', {
    id: 2,
    resource_id: 2,
    resource_type: 'slurm_ssh',
    username: 'lab01',
    ssh_key_path: '/keys/lab01',
    jobs_remote_dir: '/scratch/jobs',
    tasks_remote_dir: '/scratch/tasks',
  });
  await add('profile', { id: 3, username: 'micro, scope' });
  await add('user_oauth', { id: 4, email: 'visitor@example.org', is_guest: true });
  await add('user_oauth', { id: 5, email: 'gone@example.org', is_active: false });
  await add('user_oauth', { id: 6, email: 'new@example.org', is_verified: false });
  await add('user_oauth', { id: 7, email: 'nobody@example.org', profile_id: null, project_dirs: ['/PLACEHOLDER'] });
  await add('user_oauth', { id: 8, email: 'cluster@example.org', profile_id: 2, slurm_accounts: ['a', 'b'] });
  await add('user_oauth', {
    id: 9,
    email: 'head@example.org',
    is_superuser: true,
    profile_id: null,
    is_verified: false,
  });
  await add('user_oauth', { id: 10, email: 'Carl@Example.org', profile_id: 3, project_dirs: ['/srv/b', '/srv/a'] });
  await add('oauthaccount', { id: 1, account_id: 'g1' });
  await add('oauthaccount', { id: 2, account_id: 'o1', oauth_name: 'openid', account_email: 'ann@lab.example.org' });
  await add('usergroup', { id: 2, name: 'lab' });
  await add('usergroup', { id: 3, name: 'facility', timestamp_created: '2024-01-01T00:00:00Z' });
  const joined: [group: number, user: number, day: number][] = [
    [3, 2, 1],
    [2, 2, 2],
    [2, 3, 5],
    [3, 3, 4],
    [1, 8, 1],
    [2, 8, 3],
    [1, 10, 1],
    [3, 10, 2],
  ];
  for (const [group_id, user_id, number] of joined)
    await add('linkusergroup', { group_id, user_id, timestamp_created: day(number) });
}

async function addPackages({ add }: Existing): Promise<void> {
  const schema = '{"type": "object", "properties": {"z": {"default": 1.0}, "a": {}}}';
  const groups = [
    { id: 2, pkg_name: 'cells', version: '1.0.0', origin: 'pypi', python_version: '3.11', user_group_id: 2 },
    { id: 3, pkg_name: 'cells', version: '1.1.0a1', user_id: 3, user_group_id: 3, origin: 'wheel-file' },
    { id: 4, pkg_name: 'cells', version: '1.10', user_id: 10, user_group_id: 1, origin: 'pypi', pip_extras: 'gpu' },
    { id: 5, pkg_name: 'cells', version: '1.10', user_id: 3, user_group_id: 3, active: false },
    { id: 6, pkg_name: 'cells', version: 'abc', user_id: 3 },
    { id: 7, pkg_name: 'Zebra', version: '0', origin: 'pixi', pixi_version: '0.54.1', active: false },
    { id: 8, pkg_name: 'cells', version: '2.0', user_id: 8, resource_id: 2, user_group_id: 2 },
    { id: 9, pkg_name: 'cells', version: '1.10', user_id: 2 },
  ];
  for (const { id, ...group } of groups) {
    await add('taskgroupv2', {
      path: `/srv/tasks/${id}`,
      venv_path: `/srv/tasks/${id}/venv`,
      pinned_package_versions_pre: { numpy: '1.26' },
      pinned_package_versions_post: id % 2 ? null : {},
      env_info: 'numpy==1.26',
      timestamp_last_used: day(id),
      ...group,
      id,
    });
    await add('taskv2', {
      id: 10 + id,
      name: 'Segment',
      taskgroupv2_id: id,
      version: group.version,
      args_schema_parallel: schema,
      args_schema_version: 'pydantic_v2',
      input_types: { is_3D: false },
      output_types: id === 4 ? { segmented: true } : {},
      meta_parallel: '{"mem": 4000, "cpus_per_task": 1}',
      docs_info: '# Segment',
      category: 'Segmentation',
      authors: 'A, B',
      tags: ['cells'],
      is_core: id === 2,
    });
  }
  await add('taskv2', {
    id: 30,
    name: 'Convert',
    type: 'converter_compound',
    command_non_parallel: 'init',
    taskgroupv2_id: 2,
    args_schema_non_parallel: '{}',
  });
  await add('taskgroupactivityv2', { id: 2, action: 'collect', status: 'failed', log: 'no', pkg_name: 'gone' });
  await add('taskgroupactivityv2', {
    id: 3,
    user_id: 3,
    taskgroupv2_id: 5,
    timestamp_started: day(9),
    timestamp_ended: null,
  });
}

const PLATE = [
  image('P/A/1', {
    origin: null,
    attributes: { plate: 'P', well: 'A1', t: 1, gain: 2.5, ok: true },
    types: { is_3D: true },
  }),
  image('P/A/2', {
    attributes: { plate: 'P', well: 'A2', t: 10, gain: 1, ok: false },
    types: { is_3D: true, reg: false },
  }),
  image('P/B/1', { attributes: { plate: 'Q', well: 'B1', t: 2, mixed: 'x' }, types: { is_3D: false } }),
  image('P/B/2', { attributes: { mixed: 3, t: 2.0, größe: 'µ' }, types: {} }),
];

async function addProjects({ add }: Existing): Promise<void> {
  const projects = [
    { id: 2, name: 'b', owner: 2, is_starred: true },
    { id: 3, name: 'a', owner: 3, description: 'Of Bob' },
    { id: 4, name: 'Far', owner: 8, resource_id: 2 },
    { id: 5, name: 'old', owner: 5 },
  ];
  for (const { owner, ...project } of projects) {
    await add('projectv2', { timestamp_created: day(project.id), ...project });
    await add('linkuserprojectv2', { project_id: project.id, user_id: owner, is_owner: true, permissions: 'rwx' });
  }
  const guests: [project: number, user: number, permissions: string, verified: boolean][] = [
    [1, 4, 'r', true],
    [1, 10, 'rwx', true],
    [2, 3, 'rw', true],
    [3, 2, 'r', true],
    [3, 4, 'r', false],
    [3, 10, 'rw', false],
    [5, 2, 'rw', true],
  ];
  for (const [project_id, user_id, permissions, is_verified] of guests)
    await add('linkuserprojectv2', { project_id, user_id, permissions, is_verified });
  await add('datasetv2', { id: 2, name: 'Plate', images: PLATE, is_starred: true, timestamp_created: day(3) });
  await add('datasetv2', { id: 3, name: 'empty', project_id: 3, images: [], zarr_dir: '/srv/zarr/bob' });
  await add('datasetv2', { id: 4, name: 'b', project_id: 3, images: [PLATE[0]], zarr_dir: '/srv/zarr/bob' });
  await add('workflowv2', { id: 2, name: 'cells', description: 'Finds them', is_starred: true });
  await add('workflowv2', { id: 3, name: 'none', project_id: 3 });
  await add('workflowv2', { id: 4, name: 'far', project_id: 4 });
  const meta = '{"z": 1, "mem": 2.0}';
  const tasks = [
    { id: 10, task_id: 30, task_type: 'converter_compound', args_non_parallel: { b: [1, null, 2.5], a: '' } },
    {
      id: 11,
      order: 1,
      task_id: 12,
      meta_parallel: meta,
      args_parallel: {},
      type_filters: { is_3D: false },
      alias: 'cells',
    },
    { id: 12, order: 2, task_id: 14, args_parallel: 'null', meta_parallel: 'null', description: 'Again' },
    { id: 13, order: 3, task_id: 15 },
    { id: 14, order: 4, task_id: 17 },
  ];
  for (const task of tasks) await add('workflowtaskv2', { workflow_id: 2, order: 0, ...task });
  await add('workflowtaskv2', { id: 20, workflow_id: 4, order: 0, task_id: 18 });
}

async function addTemplates({ add }: Existing): Promise<void> {
  const data = JSON.stringify({ name: 'w', description: null, task_list: [] });
  const templates = [
    { id: 2, name: 'template', version: 2, user_group_id: null },
    { id: 3, name: 'another', version: 1, user_group_id: 2, description: 'For the lab' },
    { id: 4, name: 'template', version: 1, user_id: 3, user_group_id: 3 },
    { id: 5, name: 'template', version: 3, user_id: 3 },
  ];
  for (const template of templates) await add('workflowtemplate', { ...template, data, timestamp_last_used: day(4) });
}

async function addHistory({ add }: Existing): Promise<void> {
  const own = { dataset_id: 2, workflow_id: 2, first_task_index: 1, last_task_index: 3 };
  const dump = {
    id: 2,
    name: 'Plate',
    project_id: 1,
    zarr_dir: '/srv/zarr',
    timestamp_created: '2025-04-03T10:00:00.500000Z',
  };
  await add('jobv2', {
    ...own,
    id: 2,
    start_timestamp: day(5),
    end_timestamp: null,
    status: 'failed',
    log: 'TASK ERROR',
  });
  await add('jobv2', {
    ...own,
    id: 3,
    user_email: 'somebody@example.org',
    start_timestamp: day(6),
    end_timestamp: day(7),
    dataset_dump: { ...dump, type_filters: {}, attribute_filters: {} },
    attribute_filters: { well: ['A1', 'A2'], t: [1, 2] },
    type_filters: { is_3D: true },
    worker_init: 'module load x',
    slurm_account: 'a',
    executor_error_log: 'slurmstepd: error',
    working_dir: '/srv/jobs/no-such-folder',
    working_dir_user: '/home/lab/no-such-folder',
  });
  await add('jobv2', { id: 4, project_id: null, workflow_id: null, dataset_id: null, log: 'x'.repeat(100_000) });
  await add('jobv2', { id: 5, project_id: 3, workflow_id: 3, dataset_id: null, user_email: 'bob@example.org' });
  const runs = [
    { id: 10, job_id: 2, workflowtask_id: 11, task_id: 12, status: 'failed', num_available_images: 4, order: 1 },
    { id: 11, job_id: 3, workflowtask_id: 11, task_id: 12, status: 'done', num_available_images: 2, order: 1 },
    { id: 12, job_id: 3, workflowtask_id: 12, task_id: null, status: 'done', num_available_images: 4, order: 2 },
    { id: 13, job_id: 3, workflowtask_id: null, task_id: 14, status: 'done', num_available_images: 4, order: 3 },
    { id: 14, job_id: 3, workflowtask_id: 10, task_id: 30, status: 'done', num_available_images: 0, order: 0 },
  ];
  for (const { order, ...run } of runs) {
    const type = run.id === 14 ? 'converter_compound' : 'parallel';
    await add('historyrun', {
      dataset_id: 2,
      timestamp_started: day(5 + run.job_id - 2),
      workflowtask_dump: { id: run.workflowtask_id, order, task_type: type, version: null, args_parallel: { s: 1.0 } },
      ...run,
    });
  }
  const units = [
    { id: 20, history_run_id: 10, status: 'failed', images: [0] },
    { id: 21, history_run_id: 10, status: 'done', images: [1], has_warnings: true },
    { id: 22, history_run_id: 11, status: 'done', images: [2], has_warnings: true, logfile: '/srv/jobs/no/such.log' },
    { id: 23, history_run_id: 12, status: 'done', images: [0, 1] },
    { id: 24, history_run_id: 14, status: 'done', images: undefined },
    { id: 25, history_run_id: 14, status: 'done', images: [] },
  ];
  for (const { images, ...unit } of units) {
    const zarr_urls = images?.map((index) => PLATE[index]!['zarr_url'] as string) ?? null;
    await add('historyunit', { ...unit, zarr_urls });
    const workflowtask_id = { 10: 11, 11: 11, 12: 12 }[unit.history_run_id];
    for (const zarr_url of workflowtask_id === undefined ? [] : zarr_urls!)
      await add('historyimagecache', { dataset_id: 2, workflowtask_id, zarr_url, latest_history_unit_id: unit.id });
  }
  // an image that is not in the list any more
  await add('historyimagecache', { dataset_id: 2, workflowtask_id: 11, zarr_url: '/gone', latest_history_unit_id: 21 });
  for (const id of [2, 3, 4])
    await add('accountingrecord', { id, user_id: id, timestamp: day(id), num_new_images: id });
  await add('accountingrecordslurm', { id: 2, slurm_job_ids: [7, 8], fractal_job_id: 3, resource_id: 2 });
  await add('accountingrecordslurm', { id: 3, user_id: 8, slurm_job_ids: [9], fractal_job_id: null });
}

/** Adds all of it to the lab. */
export async function crowd(from: Existing): Promise<Existing> {
  for (const part of [addPeople, addPackages, addProjects, addTemplates, addHistory]) await part(from);
  return from;
}
