/** Jobs, their history, images with their status, and accounting, as an existing server tells of them. */
import { adminRefusalOf, anyOrder, exactly, page, type Read, refusalOf, refused, SOME_TEXT } from './expected.ts';
import { byId, type Caller, latestFirst, type Old, pick, type Row, sorted } from './old.ts';
import { attributesOf, imageAnswer, latestUnit, mayRead, statusOf, tasksOfWorkflow, typesOf } from './projects.ts';

const jobAnswer = (job: Row) => ({
  ...pick(job, 'id', 'project_id', 'user_email', 'slurm_account', 'workflow_id', 'dataset_id', 'start_timestamp'),
  ...pick(job, 'end_timestamp', 'status', 'log', 'executor_error_log', 'working_dir', 'working_dir_user'),
  ...pick(job, 'first_task_index', 'last_task_index', 'worker_init'),
  project_dump: exactly(pick(job['project_dump'] as Row, 'id', 'name', 'timestamp_created')),
  workflow_dump: exactly(pick(job['workflow_dump'] as Row, 'id', 'name', 'project_id', 'timestamp_created')),
  dataset_dump: exactly(pick(job['dataset_dump'] as Row, 'id', 'name', 'project_id', 'timestamp_created', 'zarr_dir')),
  attribute_filters: exactly(job['attribute_filters']),
  type_filters: exactly(job['type_filters']),
});

const withoutLog = (job: Row) => ({ ...jobAnswer(job), log: null });

const latestJobs = (jobs: Row[]) => latestFirst(jobs, (job) => job['start_timestamp'] as string);

const runsOf = (old: Old, dataset: Row, one: Row) =>
  sorted(
    old.runs.filter((run) => run['dataset_id'] === dataset['id'] && run['workflowtask_id'] === one['id']),
    (run) => run['timestamp_started'] as string,
  );

const unitsOf = (old: Old, run: Row) => old.units.filter((unit) => unit['history_run_id'] === run['id']);

const runAnswer = (old: Old, run: Row) => {
  const units = unitsOf(old, run);
  const count = (status: string) => units.filter((unit) => unit['status'] === status).length;
  const task = byId(old.tasks, run['task_id']);
  return {
    ...pick(run, 'id', 'timestamp_started'),
    workflowtask_dump: exactly(run['workflowtask_dump']),
    num_submitted_units: count('submitted'),
    num_done_units: count('done'),
    num_failed_units: count('failed'),
    num_units_with_warnings: units.filter((unit) => unit['has_warnings']).length,
    args_schema_parallel: exactly(task?.['args_schema_parallel'] ?? null),
    args_schema_non_parallel: exactly(task?.['args_schema_non_parallel'] ?? null),
    version: (task?.['version'] ?? null) as string | null,
  };
};

const unitAnswer = (unit: Row) => ({
  ...pick(unit, 'id', 'logfile', 'has_warnings', 'status'),
  zarr_urls: (unit['zarr_urls'] ?? []) as string[],
});

const STATUS = '__wftask_dataset_image_status__';

/** How a task stands on a dataset; warnings are those of the latest run. */
function taskStatus(old: Old, dataset: Row, one: Row) {
  const last = runsOf(old, dataset, one).at(-1);
  if (!last) return null;
  const units = old.cache
    .filter((row) => row['dataset_id'] === dataset['id'] && row['workflowtask_id'] === one['id'])
    .map((row) => byId(old.units, row['latest_history_unit_id'])!);
  const count = (status: string) => units.filter((unit) => unit['status'] === status).length;
  const available = last['num_available_images'] as number;
  return {
    status: last['status'] as string,
    num_submitted_images: count('submitted'),
    num_done_images: count('done'),
    num_failed_images: count('failed'),
    num_available_images: available < units.length ? null : available,
  };
}

function latestJobRead(old: Old, project: Row, workflow: Row, dataset: Row): Read {
  const path = `/api/v2/project/${project['id']}/latest-job/?workflow_id=${workflow['id']}&dataset_id=${dataset['id']}`;
  const [last] = latestJobs(
    old.jobs.filter(
      (job) =>
        job['project_id'] === project['id'] &&
        job['workflow_id'] === workflow['id'] &&
        job['dataset_id'] === dataset['id'],
    ),
  );
  if (!last) return { path, status: 404 };
  const statuses = tasksOfWorkflow(old, workflow).map((one) => [String(one['id']), taskStatus(old, dataset, one)]);
  return { path, status: 200, answer: { ...jobAnswer(last), task_statuses: Object.fromEntries(statuses) as object } };
}

function imageReads(old: Old, project: Row, dataset: Row, one: Row): Read[] {
  const which = `dataset_id=${dataset['id']}&workflowtask_id=${one['id']}`;
  const path = `/api/v2/project/${project['id']}/status/`;
  const images = sorted(dataset['images'] as Row[], (image) => image['zarr_url'] as string);
  const answers = (warnings: boolean) =>
    images.map((image) => {
      const url = image['zarr_url'] as string;
      const status = statusOf(old, dataset, one, url);
      return {
        ...imageAnswer({ ...image, attributes: { ...(image['attributes'] as object), [STATUS]: status } }),
        has_warnings: warnings ? latestUnit(old, dataset, one, url)?.['has_warnings'] === true : null,
      };
    });
  const facets = {
    attributes: { ...attributesOf(images), [STATUS]: ['done', 'submitted', 'failed', 'unset'] },
    types: typesOf(images),
  };
  const failed = answers(false).filter((_, index) => {
    return statusOf(old, dataset, one, images[index]!['zarr_url'] as string) === 'failed';
  });
  const logs = images.slice(0, 3).map((image): Read => {
    const body = {
      dataset_id: dataset['id'] as number,
      workflowtask_id: one['id'] as number,
      zarr_url: image['zarr_url'] as string,
    };
    const unit = latestUnit(old, dataset, one, body.zarr_url);
    return unit
      ? { path: `${path}image-log/`, body, status: 200, answer: SOME_TEXT }
      : { path: `${path}image-log/`, body, status: 404 };
  });
  return [
    { path: `${path}images/?${which}`, body: {}, status: 200, answer: page(answers(false), facets) },
    {
      path: `${path}images/?${which}&include_warnings=true`,
      body: {},
      status: 200,
      answer: page(answers(true), facets),
    },
    {
      path: `${path}images/?${which}`,
      body: { attribute_filters: { [STATUS]: ['failed'] } },
      status: 200,
      answer: page(failed, facets),
    },
    ...logs,
  ];
}

function historyReads(old: Old, project: Row, dataset: Row, one: Row): Read[] {
  const which = `dataset_id=${dataset['id']}&workflowtask_id=${one['id']}`;
  const path = `/api/v2/project/${project['id']}/status/`;
  const runs = runsOf(old, dataset, one);
  return [
    { path: `${path}run/?${which}`, status: 200, answer: runs.map((run) => runAnswer(old, run)) },
    ...runs.flatMap((run): Read[] => {
      const units = unitsOf(old, run);
      const failed = units.filter((unit) => unit['status'] === 'failed');
      const units_path = `${path}run/${run['id']}/units/?${which}`;
      return [
        { path: units_path, status: 200, answer: page(units.map(unitAnswer)) },
        { path: `${units_path}&unit_status=failed`, status: 200, answer: page(failed.map(unitAnswer)) },
        {
          path: `${units_path}&page=2&page_size=3`,
          status: 200,
          answer: {
            current_page: 2,
            page_size: 3,
            total_count: units.length,
            items: units.slice(3, 6).map(unitAnswer),
          },
        },
        ...units.slice(0, 2).map((unit): Read => ({
          path: `${path}unit-log/?${which}&history_run_id=${run['id']}&history_unit_id=${unit['id']}`,
          status: 200,
          answer: SOME_TEXT,
        })),
      ];
    }),
    ...imageReads(old, project, dataset, one),
  ];
}

function projectReads(old: Old, project: Row): Read[] {
  const path = `/api/v2/project/${project['id']}/`;
  const jobs = latestJobs(old.jobs.filter((job) => job['project_id'] === project['id']));
  const workflows = old.workflows.filter((one) => one['project_id'] === project['id']);
  const datasets = old.datasets.filter((one) => one['project_id'] === project['id']);
  return [
    { path: `${path}job/`, status: 200, answer: jobs.map(jobAnswer) },
    { path: `${path}job/?log=false`, status: 200, answer: jobs.map(withoutLog) },
    ...jobs.map((job): Read => ({ path: `${path}job/${job['id']}/`, status: 200, answer: jobAnswer(job) })),
    { path: `${path}job/999999/`, status: 404 },
    ...workflows.flatMap((workflow) => [
      {
        path: `${path}workflow/${workflow['id']}/job/`,
        status: 200,
        answer: jobs.filter((job) => job['workflow_id'] === workflow['id']).map(jobAnswer),
      },
      ...datasets.flatMap((dataset) => [
        latestJobRead(old, project, workflow, dataset),
        ...tasksOfWorkflow(old, workflow).flatMap((one) => historyReads(old, project, dataset, one)),
      ]),
    ]),
  ];
}

function ownReads(old: Old, caller: Caller): Read[] {
  const projects = old.projects.filter((project) => mayRead(old, caller, project));
  const jobs = latestJobs(old.jobs.filter((job) => projects.some(({ id }) => id === job['project_id'])));
  return [
    { path: '/api/v2/job/', status: 200, answer: jobs.map(jobAnswer) },
    { path: '/api/v2/job/?log=false', status: 200, answer: jobs.map(withoutLog) },
    ...projects.flatMap((project) => projectReads(old, project)),
  ];
}

function adminReads(old: Old): Read[] {
  const path = '/admin/v2/job/';
  const list = (query: string, is: (job: Row) => boolean): Read => ({
    path: `${path}?${query}`,
    status: 200,
    answer: page(latestJobs(old.jobs.filter(is)).map(jobAnswer)),
  });
  const first = old.jobs[0];
  const accounts = (body: object, is: (row: Row) => boolean): Read => ({
    path: '/admin/v2/accounting/',
    body,
    status: 200,
    answer: page(old.accounting.filter(is)),
  });
  const scheduled = (body: object, is: (row: Row) => boolean): Read => ({
    path: '/admin/v2/accounting/slurm/',
    body,
    status: 200,
    answer: anyOrder(old.slurmAccounting.filter(is).flatMap((row) => (row['slurm_job_ids'] ?? []) as number[])),
  });
  return [
    list('', () => true),
    list('status=failed', (job) => job['status'] === 'failed'),
    ...old.resources.map(({ id }) =>
      list(`resource_id=${id}`, (job) => byId(old.projects, job['project_id'])?.['resource_id'] === id),
    ),
    ...(first
      ? [
          list(
            `job_user_email=${encodeURIComponent(first['user_email'] as string)}`,
            (job) => job['user_email'] === first['user_email'],
          ),
          list(
            `start_timestamp_min=${encodeURIComponent(first['start_timestamp'] as string)}`,
            (job) => job['start_timestamp'] >= first['start_timestamp'],
          ),
        ]
      : []),
    ...old.jobs.map((job): Read => ({ path: `${path}${job['id']}/`, status: 200, answer: jobAnswer(job) })),
    accounts({}, () => true),
    ...old.users.map(({ id }) => accounts({ user_id: id as number }, (row) => row['user_id'] === id)),
    scheduled({}, () => true),
    ...old.jobs.map(({ id }) => scheduled({ fractal_job_id: id as number }, (row) => row['fractal_job_id'] === id)),
    ...old.resources.map(({ id }) => scheduled({ resource_id: id as number }, (row) => row['resource_id'] === id)),
  ];
}

export function jobReads(old: Old, caller: Caller): Read[] {
  const own = refusalOf(caller);
  const admin = adminRefusalOf(caller);
  return [
    ...(own === undefined ? ownReads(old, caller) : refused(['/api/v2/job/'], own)),
    ...(admin === undefined ? adminReads(old) : refused(['/admin/v2/job/'], admin)),
  ];
}
