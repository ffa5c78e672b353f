/** Jobs, and what ran in them: runs of tasks, their units, and which unit was an image's latest. */
import { asTheyAre, type Mapping, type Plan } from '../mapping.ts';
import { filled, literal, objectOrEmpty, shown } from '../sql.ts';
import { readableTime } from '../times.ts';
import { notAnObject, withHoles } from './odd-values.ts';

const OVER = `('done', 'failed')`;
const INTERRUPTED = 'The job was interrupted when this service imported the database. Submit it again.';
const FAILURE = JSON.stringify({ kind: 'internal', workflowtask_id: null, message: INTERRUPTED, num_images: 0 });
const OBJECTS = ['dataset_dump', 'workflow_dump', 'project_dump', 'attribute_filters', 'type_filters'];
const RUN_DUMPS = ['workflowtask_dump', 'task_group_dump'];

export function jobs(plan: Plan): Mapping {
  const from = `${plan.rows('jobv2')} j left join (
    select email, min(id) as id from ${plan.rows('user_oauth')} u group by email) person on person.email = j.user_email`;
  const isUnfinished = `j.status = 'submitted'`;
  return {
    table: 'jobs',
    source: 'jobv2',
    columns: {
      ...asTheyAre('j', [
        'id',
        'project_id',
        'workflow_id',
        'dataset_id',
        'user_email',
        'slurm_account',
        'worker_init',
        'working_dir',
        'working_dir_user',
        'fractal_server_version',
        'first_task_index',
        'last_task_index',
        'start_timestamp',
        'executor_error_log',
      ]),
      user_id: 'person.id',
      end_timestamp: `case when ${isUnfinished} then ${literal(plan.importedAt)}::timestamptz else ${readableTime('j.end_timestamp')} end`,
      status: `case when j.status = 'done' then j.status else 'failed' end`,
      log: `case when ${isUnfinished} then concat_ws(chr(10), j.log, ${literal(INTERRUPTED)}) else j.log end`,
      failure: `case when ${isUnfinished} then ${literal(FAILURE)}::json end`,
      ...Object.fromEntries(OBJECTS.map((column) => [column, objectOrEmpty(`j.${column}`)])),
    },
    from,
    findings: [
      {
        rule: 'jobs.unfinished',
        from,
        where: isUnfinished,
        id: 'j.id',
        text: `'status submitted → failed: it is no longer running. Submitted by ' || ${shown('j.user_email')}`,
      },
      {
        rule: 'jobs.unknown-status',
        from,
        where: `(j.status in ${OVER} or ${isUnfinished}) is not true`,
        id: 'j.id',
        text: `'status ' || ${shown('j.status')} || ' → failed'`,
      },
      {
        rule: 'jobs.nobody',
        from,
        where: 'person.id is null',
        id: 'j.id',
        text: `'There is no account ' || ${shown('j.user_email')} || ', which submitted it.'`,
      },
      {
        rule: 'jobs.no-end',
        from,
        where: `(${isUnfinished}) is not true and j.end_timestamp is null`,
        id: 'j.id',
        text: `'The job is over, and nobody recorded when it ended.'`,
      },
      ...notAnObject(from, 'j', OBJECTS),
    ],
  };
}

const RUN_COLUMNS = [
  'id',
  'dataset_id',
  'workflowtask_id',
  'job_id',
  'task_id',
  'timestamp_started',
  'num_available_images',
];

/** The task's place in the workflow as it ran, where somebody recorded a whole number. */
const ORDER = `case when r.workflowtask_dump ->> 'order' ~ '^[0-9]{1,9}$' then (r.workflowtask_dump ->> 'order')::integer end`;

export function historyRuns(plan: Plan): Mapping {
  // the runs of a job follow each other: one ends when the next begins
  const from = `(
    select ordered.*, count(*) over (partition by job_id, task_order) as num_of_order,
      coalesce(lead(timestamp_started) over (partition by job_id order by timestamp_started, id), job_ended) as ended
    from (
      select ${RUN_COLUMNS.map((name) => `r.${name}`).join(', ')}, r.status, r.workflowtask_dump, r.task_group_dump,
        ${ORDER} as task_order, j.end_timestamp as job_ended
      from ${plan.rows('historyrun')} r join ${plan.rows('jobv2')} j on j.id = r.job_id
    ) ordered) r`;
  return {
    table: 'history_runs',
    source: 'historyrun',
    columns: {
      ...asTheyAre('r', RUN_COLUMNS),
      ...Object.fromEntries(RUN_DUMPS.map((dump) => [dump, objectOrEmpty(`r.${dump}`)])),
      status: `case when r.status in ${OVER} then r.status else 'failed' end`,
      task_index: 'case when r.num_of_order = 1 then r.task_order end',
      timestamp_ended: `case when r.ended is not null then ${readableTime('greatest(r.ended, r.timestamp_started)')} end`,
      // nobody counted
      num_new_images: 'null::integer',
    },
    from,
    findings: [
      {
        rule: 'runs.unfinished',
        from,
        where: `(r.status in ${OVER}) is not true`,
        id: 'r.id',
        text: `'status ' || ${shown('r.status')} || ' → failed in job ' || r.job_id`,
      },
      {
        rule: 'runs.same-order',
        from,
        where: 'r.task_order is not null and r.num_of_order > 1',
        id: 'r.id',
        text: `'task_index ' || r.task_order || ' → null: ' || r.num_of_order || ' runs of job ' || r.job_id || ' have it.'`,
      },
      ...notAnObject(from, 'r', RUN_DUMPS),
    ],
  };
}

const COMPOUND = `coalesce(coalesce(r.workflowtask_dump ->> 'task_type', r.workflowtask_dump -> 'task' ->> 'type')
  in ('compound', 'converter_compound'), false)`;

export function historyUnits(plan: Plan): Mapping {
  // the existing system makes the unit of an init phase first
  const from = `(
    select u.id, u.history_run_id, u.logfile, u.has_warnings, u.status, u.zarr_urls, run.is_compound,
      row_number() over (partition by u.history_run_id order by u.id) - 1 as place
    from ${plan.rows('historyunit')} u
      join (select r.id, ${COMPOUND} as is_compound from ${plan.rows('historyrun')} r) run on run.id = u.history_run_id) u`;
  return {
    table: 'history_units',
    source: 'historyunit',
    columns: {
      ...asTheyAre('u', ['id', 'history_run_id', 'logfile', 'has_warnings']),
      status: `case when u.status in ${OVER} then u.status else 'failed' end`,
      zarr_urls: filled('u.zarr_urls'),
      is_init: 'u.is_compound and u.place = 0',
      number: 'case when u.is_compound and u.place > 0 then u.place - 1 else u.place end',
    },
    from,
    findings: [
      {
        rule: 'units.unfinished',
        from: `${plan.rows('historyunit')} u`,
        where: `(u.status in ${OVER}) is not true`,
        id: 'u.id',
        text: `'status ' || ${shown('u.status')} || ' → failed in run ' || u.history_run_id`,
      },
      ...withHoles(`${plan.rows('historyunit')} u`, 'u', ['zarr_urls']),
    ],
  };
}

export const historyImageCache = (plan: Plan): Mapping => ({
  table: 'history_image_cache',
  source: 'historyimagecache',
  columns: asTheyAre('c', ['dataset_id', 'workflowtask_id', 'zarr_url', 'latest_history_unit_id']),
  from: `${plan.rows('historyimagecache')} c`,
  findings: [],
});
