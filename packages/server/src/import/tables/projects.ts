/** Projects with their owners and guests, datasets, templates and workflows. */
import { TASK_TYPES } from '@service/contract';

import { asTheyAre, type Mapping, type Plan } from '../mapping.ts';
import { listed, objectOrEmpty, objectOrNull, renamed, shown } from '../sql.ts';
import { readableTime } from '../times.ts';
import { notAnObject } from './odd-values.ts';

/** Every project with the owner that its links name, if they name one. */
export const ownedProjects = (plan: Pick<Plan, 'rows'>) => `(
  select p.id, p.name, p.description, p.is_starred, p.resource_id, p.timestamp_created, o.user_id as linked_owner
  from ${plan.rows('projectv2')} p left join (
    select l.project_id, min(l.user_id) as user_id from ${plan.rows('linkuserprojectv2')} l
    where l.is_owner group by l.project_id
  ) o on o.project_id = p.id)`;

const ownerIn = (alias: string, { orphansTo }: Plan) => `coalesce(${alias}.linked_owner, ${orphansTo ?? 'null'})`;

export function projects(plan: Plan): Mapping {
  const from = `${ownedProjects(plan)} p`;
  const name = renamed('p.id', 'p.name', plan.projectNames);
  return {
    table: 'projects',
    source: 'projectv2',
    columns: {
      ...asTheyAre('p', ['id', 'description', 'is_starred', 'resource_id', 'timestamp_created']),
      name,
      owner_id: ownerIn('p', plan),
    },
    from,
    findings: [
      {
        rule: 'projects.no-owner',
        from,
        where: 'p.linked_owner is null',
        id: 'p.id',
        text: `${shown('p.name')} || ' had no owner → account ' || ${plan.orphansTo ?? 'null'}`,
      },
      {
        rule: 'projects.name-twice',
        from,
        where: plan.projectNames.size === 0 ? 'false' : `p.id in (${[...plan.projectNames.keys()].join(', ')})`,
        id: 'p.id',
        text: `'name ' || ${shown('p.name')} || ' → ' || ${shown(`(${name})`)} || '. Its owner has another project of this name.'`,
      },
    ],
  };
}

export function projectGuests(plan: Plan): Mapping {
  const from = `${plan.rows('linkuserprojectv2')} l join ${ownedProjects(plan)} p on p.id = l.project_id`;
  return {
    table: 'project_guests',
    source: 'linkuserprojectv2',
    columns: asTheyAre('l', ['project_id', 'user_id', 'is_verified', 'permissions']),
    from: `${from} where l.user_id <> ${ownerIn('p', plan)}`,
    findings: [
      {
        rule: 'projects.guest-is-owner',
        from,
        where: `p.linked_owner is null and l.user_id = ${plan.orphansTo ?? 'null'}`,
        id: `l.project_id || '/' || l.user_id`,
        text: `'guest (' || l.permissions || ') → owner'`,
      },
    ],
    sourceRows: `select (select count(*) from public.linkuserprojectv2)
      - (select count(p.linked_owner) from ${ownedProjects(plan)} p) as count`,
  };
}

/** Of those who are in the project, the nearest folder above the dataset. */
const nearestFolder = (plan: Plan) => `(
  select dir from (
    select ${ownerIn('p', plan)} as user_id
    union select l.user_id from ${plan.rows('linkuserprojectv2')} l where l.project_id = d.project_id and l.is_verified
  ) member join ${plan.rows('user_oauth')} u on u.id = member.user_id cross join unnest(u.project_dirs) as dir
  where starts_with(d.zarr_dir || '/', rtrim(dir, '/') || '/')
  order by length(dir) desc limit 1)`;

export const datasets = (plan: Plan): Mapping => ({
  table: 'datasets',
  source: 'datasetv2',
  columns: {
    ...asTheyAre('d', ['id', 'name', 'project_id', 'is_starred', 'timestamp_created', 'zarr_dir']),
    project_dir: nearestFolder(plan),
  },
  from: `${plan.rows('datasetv2')} d left join ${ownedProjects(plan)} p on p.id = d.project_id`,
  findings: [],
});

export const workflowTemplates = (plan: Plan): Mapping => ({
  table: 'workflow_templates',
  source: 'workflowtemplate',
  columns: {
    data: objectOrEmpty('t.data', 'json'),
    ...asTheyAre('t', [
      'id',
      'user_id',
      'user_group_id',
      'name',
      'version',
      'description',
      'fractal_server_version',
      'timestamp_created',
      'timestamp_last_used',
    ]),
  },
  from: `${plan.rows('workflowtemplate')} t`,
  findings: notAnObject(`${plan.rows('workflowtemplate')} t`, 't', ['data'], 'json'),
});

export function workflows(plan: Plan): Mapping {
  const from = `${plan.rows('workflowv2')} w`;
  const name = renamed('w.id', 'w.name', plan.workflowNames);
  return {
    table: 'workflows',
    source: 'workflowv2',
    columns: {
      ...asTheyAre('w', ['id', 'description', 'project_id', 'template_id', 'is_starred', 'timestamp_created']),
      name,
    },
    from,
    findings: [
      {
        rule: 'workflows.name-twice',
        from,
        where: plan.workflowNames.size === 0 ? 'false' : `w.id in (${[...plan.workflowNames.keys()].join(', ')})`,
        id: 'w.id',
        text: `'name ' || ${shown('w.name')} || ' → ' || ${shown(`(${name})`)} || '. Its project has another workflow of this name.'`,
      },
    ],
  };
}

const WORKFLOW_TASK_COLUMNS = ['id', 'workflow_id', 'task_id', 'alias', 'description'];
const ARGUMENTS = ['args_non_parallel', 'args_parallel'];
const META = ['meta_non_parallel', 'meta_parallel'];

export function workflowTasks(plan: Plan): Mapping {
  const numbered = `(select ${[...WORKFLOW_TASK_COLUMNS, ...ARGUMENTS, ...META].join(', ')}, task_type, type_filters, "order",
      row_number() over (partition by workflow_id order by "order" nulls last, id) - 1 as place
    from ${plan.rows('workflowtaskv2')} u) t`;
  const from = `${numbered} join ${plan.rows('workflowv2')} w on w.id = t.workflow_id
    join ${plan.rows('taskv2')} task on task.id = t.task_id`;
  const known = `t.task_type in (${listed(TASK_TYPES)})`;
  return {
    table: 'workflow_tasks',
    source: 'workflowtaskv2',
    columns: {
      ...asTheyAre('t', WORKFLOW_TASK_COLUMNS),
      order: 't.place',
      task_type: `case when ${known} then t.task_type else task.type end`,
      ...Object.fromEntries(META.map((column) => [column, objectOrNull(`t.${column}`, 'json')])),
      ...Object.fromEntries(ARGUMENTS.map((column) => [column, objectOrNull(`t.${column}`)])),
      type_filters: objectOrEmpty('t.type_filters'),
      revision: '1',
      timestamp_modified: readableTime('w.timestamp_created'),
    },
    from,
    findings: [
      {
        rule: 'workflow_tasks.order',
        from,
        where: 't."order" is distinct from t.place',
        id: 't.id',
        text: `'order ' || coalesce(t."order"::text, 'null') || ' → ' || t.place || ' in workflow ' || t.workflow_id`,
      },
      {
        rule: 'workflow_tasks.unknown-type',
        from,
        where: `(${known}) is not true`,
        id: 't.id',
        text: `'task_type ' || ${shown('t.task_type')} || ' → ' || task.type`,
      },
      ...notAnObject(from, 't', ['type_filters']),
      ...notAnObject(from, 't', META, 'json', 'null'),
      ...notAnObject(from, 't', ARGUMENTS, 'jsonb', 'null'),
    ],
  };
}
