/** Task groups, their tasks, and what was done with them. */
import { ORIGINS } from '@service/contract';

import { asTheyAre, type Mapping, type Plan } from '../mapping.ts';
import { type Json, jsonOrNull, listed, literal, objectOrEmpty, shown } from '../sql.ts';
import { readableTime } from '../times.ts';
import { notAnObject } from './odd-values.ts';

const objects = (alias: string, columns: readonly string[], type: Json = 'jsonb') =>
  Object.fromEntries(columns.map((column) => [column, objectOrEmpty(`${alias}.${column}`, type)]));

const PINNED = ['pinned_package_versions_pre', 'pinned_package_versions_post'];
const GROUP_COLUMNS = [
  'id',
  'user_id',
  'user_group_id',
  'resource_id',
  'pkg_name',
  'version',
  'python_version',
  'pixi_version',
  'path',
  'venv_path',
  'archive_path',
  'pip_extras',
  'env_info',
  'active',
  'timestamp_created',
  'timestamp_last_used',
];

export function taskGroups(plan: Plan): Mapping {
  const from = `(select ${[...GROUP_COLUMNS, 'origin', ...PINNED].join(', ')},
      min(id) over (partition by user_id, pkg_name, version, resource_id) as first_of_owner,
      case when user_group_id is null then id
           else min(id) over (partition by user_group_id, pkg_name, version) end as first_of_user_group
    from ${plan.rows('taskgroupv2')} t) g`;
  const isFirst = 'g.id = g.first_of_owner and g.id = g.first_of_user_group';
  return {
    table: 'task_groups',
    source: 'taskgroupv2',
    columns: {
      ...asTheyAre('g', GROUP_COLUMNS),
      origin: `case when g.origin in (${listed(ORIGINS)}) then g.origin else 'other' end`,
      ...objects('g', PINNED),
      // a running number could collide across the two rules
      twin: `case when ${isFirst} then 0 else g.id end`,
    },
    from,
    findings: [
      {
        rule: 'task_groups.origin',
        from,
        where: `(g.origin in (${listed(ORIGINS)})) is not true`,
        id: 'g.id',
        text: `'origin ' || ${shown('g.origin')} || ' → other'`,
      },
      {
        rule: 'task_groups.twin',
        from,
        where: `not (${isFirst})`,
        id: 'g.id',
        text: `${shown('g.pkg_name')} || ' ' || ${shown('g.version')} || ' is also task group '
          || case when g.id <> g.first_of_owner then g.first_of_owner else g.first_of_user_group end
          || '; both are kept.'`,
      },
      ...notAnObject(from, 'g', PINNED),
    ],
  };
}

const META = ['meta_non_parallel', 'meta_parallel'];
const TYPES = ['input_types', 'output_types'];

export function tasks(plan: Plan): Mapping {
  const from = `${plan.rows('taskv2')} t`;
  const elements = `jsonb_array_elements(case when jsonb_typeof(t.tags) = 'array' then t.tags else '[]' end)`;
  return {
    table: 'tasks',
    source: 'taskv2',
    columns: {
      ...asTheyAre('t', [
        'id',
        'taskgroupv2_id',
        'name',
        'type',
        'version',
        'is_core',
        'command_non_parallel',
        'command_parallel',
        'args_schema_version',
        'docs_info',
        'docs_link',
        'category',
        'modality',
        'authors',
      ]),
      ...objects('t', META, 'json'),
      args_schema_non_parallel: jsonOrNull('t.args_schema_non_parallel', 'json'),
      args_schema_parallel: jsonOrNull('t.args_schema_parallel', 'json'),
      ...objects('t', TYPES),
      tags: `array(select coalesce(e.tag #>> '{}', 'null') from ${elements} with ordinality e (tag, place) order by e.place)`,
    },
    from,
    findings: [
      {
        rule: 'tasks.tags',
        from,
        where: `jsonb_typeof(t.tags) not in ('array', 'null')
          or exists (select from ${elements} e (tag) where jsonb_typeof(e.tag) <> 'string')`,
        id: 't.id',
        text: `'tags ' || ${shown('t.tags::text')} || case when jsonb_typeof(t.tags) = 'array' then ': made texts' else ' → []' end`,
        content: `jsonb_build_object('tags', t.tags)`,
      },
      ...notAnObject(from, 't', META, 'json'),
      ...notAnObject(from, 't', TYPES),
    ],
  };
}

export function activities(plan: Plan): Mapping {
  const from = `${plan.rows('taskgroupactivityv2')} a`;
  const isOver = `a.status in ('OK', 'failed')`;
  const sentence = 'The activity was interrupted when this service imported the database.';
  return {
    table: 'task_group_activities',
    source: 'taskgroupactivityv2',
    columns: {
      ...asTheyAre('a', [
        'id',
        'user_id',
        'taskgroupv2_id',
        'timestamp_started',
        'pkg_name',
        'version',
        'action',
        'fractal_server_version',
      ]),
      status: `case when ${isOver} then a.status else 'failed' end`,
      timestamp_ended: `case when ${isOver} then ${readableTime('a.timestamp_ended')} else ${literal(plan.importedAt)}::timestamptz end`,
      log: `case when ${isOver} then a.log else concat_ws(chr(10), a.log, ${literal(sentence)}) end`,
    },
    from,
    findings: [
      {
        rule: 'activities.unfinished',
        from,
        where: `(${isOver}) is not true`,
        id: 'a.id',
        text: `a.action || ' of ' || ${shown('a.pkg_name')} || ' ' || ${shown('a.version')} || ': status ' || ${shown('a.status')} || ' → failed'
          || case when a.action = 'collect' and a.taskgroupv2_id is not null
               then '. Task group ' || a.taskgroupv2_id || ' is as the interruption left it: delete it, or collect it again.'
               else '' end`,
      },
      {
        rule: 'activities.no-end',
        from,
        where: `${isOver} and a.timestamp_ended is null`,
        id: 'a.id',
        text: `a.action || ' of ' || ${shown('a.pkg_name')} || ' ' || ${shown('a.version')} || ' is over, and nobody recorded when it ended.'`,
      },
    ],
  };
}
