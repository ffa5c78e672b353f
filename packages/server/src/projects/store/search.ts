/** The SQL of the search over everything a person may read. */
import { sql } from 'kysely';

import { contains, startsWith } from '../../db/index.ts';
import type { Executor } from './access.ts';

interface Found {
  kind: 'project' | 'dataset' | 'workflow' | 'job' | 'task' | 'template';
  id: number;
  name: string;
  project_id: number | null;
  project_name: string | null;
}

/** Best matches first: the whole name, its beginning, a part of it. `jobId` is null where the text is no number. */
export async function findByName(
  db: Executor,
  userId: number,
  text: string,
  jobId: number | null,
  limit: number,
): Promise<Found[]> {
  const { rows } = await sql<Found>`
    with mine as materialized (
      select p.id, p.name from project_links l join projects p on p.id = l.project_id
      where l.user_id = ${userId} and l.is_verified
    ),
    my_groups as materialized (select group_id from group_members where user_id = ${userId}),
    named as (
      select 'project' as kind, id, name collate "default" as name, id as project_id, name as project_name from mine
      union all
      select 'dataset', d.id, d.name collate "default", m.id, m.name from datasets d join mine m on m.id = d.project_id
      union all
      select 'workflow', w.id, w.name collate "default", m.id, m.name from workflows w join mine m on m.id = w.project_id
      union all
      select 'task', t.id, t.name collate "default", null, null from tasks t join task_groups g on g.id = t.taskgroupv2_id
      where g.user_id = ${userId}
        or (g.user_group_id in (select group_id from my_groups)
            and g.resource_id = (select p.resource_id from users u join profiles p on p.id = u.profile_id
                                 where u.id = ${userId}))
      union all
      select 'template', t.id, t.name collate "default", null, null from workflow_templates t
      where t.user_id = ${userId} or t.user_group_id in (select group_id from my_groups)
    ),
    ranked as (
      select named.*,
             case when lower(name) = lower(${text}) then 0 when name ilike ${startsWith(text)} then 1 else 2 end as rank
      from named where name ilike ${contains(text)}
      union all
      select 'job', j.id, coalesce(j.workflow_dump ->> 'name', ''), m.id, m.name, 0
      from jobs j join mine m on m.id = j.project_id where j.id = ${jobId}
    )
    select kind, id, name, project_id, project_name from ranked
    order by rank, name collate "C", kind, id limit ${limit}`.execute(db);
  return rows;
}
