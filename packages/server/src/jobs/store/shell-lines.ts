/** The SQL of shell lines: as they are in a workflow, and as somebody ran them last. */
import { sql } from 'kysely';

import type { JsonObject } from '@service/contract';

import type { Executor } from './jobs.ts';

/** Whoever ran a workflow more often than this since they last ran a task is told as if they never had. */
const RUNS_LOOKED_AT = 50;

interface Lines {
  task_id: number;
  meta_non_parallel: JsonObject | null;
  meta_parallel: JsonObject | null;
  /** Commands of a package are the service's own. */
  commands: string[];
}

export interface PresentLines extends Lines {
  id: number;
  /** Who wrote its lines; null where nobody knows. */
  lines_by: string | null;
  lines_at: string | null;
  chosen_by: string | null;
  chosen_at: string | null;
  command_by: string | null;
  command_at: string;
}

export interface RanLines extends Lines {
  id: number;
  start_timestamp: string;
}

export async function presentLines(db: Executor, workflowId: number): Promise<PresentLines[]> {
  const { rows } = await sql<PresentLines>`
    select t.id, t.task_id, t.meta_non_parallel, t.meta_parallel,
      case when g.origin = 'other' then array_remove(array[task.command_non_parallel, task.command_parallel], null)
        else '{}' end as commands,
      writer.email as lines_by, t.shell_changed_at as lines_at,
      chooser.email as chosen_by, t.task_chosen_at as chosen_at,
      coalesce(author.email, owner.email) as command_by,
      coalesce(task.commands_changed_at, g.timestamp_created) as command_at
    from workflow_tasks t
    join tasks task on task.id = t.task_id
    join task_groups g on g.id = task.taskgroupv2_id
    left join users writer on writer.id = t.shell_changed_by
    left join users chooser on chooser.id = t.task_chosen_by
    left join users author on author.id = task.commands_changed_by
    left join users owner on owner.id = g.user_id
    where t.workflow_id = ${workflowId}
    order by t."order"`.execute(db);
  return rows;
}

/** Of each task the last time that this person ran it. */
export async function ranLines(db: Executor, userId: number, workflowId: number): Promise<RanLines[]> {
  const { rows } = await sql<RanLines>`
    select distinct on (id) (task->'workflowtask'->>'id')::int as id, (task->'task'->>'id')::int as task_id,
      task->'workflowtask'->'meta_non_parallel' as meta_non_parallel,
      task->'workflowtask'->'meta_parallel' as meta_parallel,
      case when task->'task_group'->>'origin' = 'other'
        then array_remove(array[task->'task'->>'command_non_parallel', task->'task'->>'command_parallel'], null)
        else '{}' end as commands,
      job.start_timestamp
    from (
      select start_timestamp, snapshot from jobs
      where workflow_id = ${workflowId} and user_id = ${userId} and snapshot is not null
      order by start_timestamp desc limit ${RUNS_LOOKED_AT}
    ) job, json_array_elements(job.snapshot->'tasks') task
    order by 1, job.start_timestamp desc`.execute(db);
  return rows;
}
