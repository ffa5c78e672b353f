/** The SQL of the workflow as a job ran it. */
import type { JsonObject } from '@service/contract';

import type { Executor } from './jobs.ts';

/** A task as it was when the job began. */
export interface RanTask {
  workflowtask: JsonObject;
  task: JsonObject;
  task_group: JsonObject;
}

export async function snapshotOf(db: Executor, jobId: number): Promise<RanTask[] | null> {
  const row = await db.selectFrom('jobs').select('snapshot').where('id', '=', jobId).executeTakeFirst();
  return (row?.snapshot as { tasks: RanTask[] } | null | undefined)?.tasks ?? null;
}

/** For jobs without a snapshot: what their runs remember. Tasks that never began are missing. */
export async function tasksOfRuns(db: Executor, jobId: number): Promise<RanTask[]> {
  const rows = await db
    .selectFrom('history_runs')
    .select(['workflowtask_dump', 'task_group_dump'])
    .where('job_id', '=', jobId)
    .orderBy('task_index', (order) => order.asc().nullsLast())
    .orderBy('timestamp_started')
    .orderBy('id')
    .execute();
  return rows.map(({ workflowtask_dump, task_group_dump }) => ({
    workflowtask: workflowtask_dump,
    task: (workflowtask_dump['task'] ?? {}) as JsonObject,
    task_group: task_group_dump,
  }));
}
