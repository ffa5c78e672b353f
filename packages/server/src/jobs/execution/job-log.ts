/** The `workflow.log` of a job, with what it begins with. */
import { join } from 'node:path';

import { workflowLogLine } from '../../engine/failures.ts';
import { openWorkflowLog, type WorkflowLog } from '../files/index.ts';
import type { RunningJob } from '../store/execution.ts';

/** `again` where an earlier attempt has begun the log. */
export function openJobLog(job: RunningJob, again: boolean): WorkflowLog {
  const log = openWorkflowLog(join(job.working_dir, 'workflow.log'), (time, level, message) =>
    workflowLogLine(time, job.workflow_id ?? 0, job.id, level, message),
  );
  if (again) {
    log.line('INFO', 'The service was interrupted; the job continues');
    return log;
  }
  log.line('INFO', `Start of workflow "${job.workflow_name}"`);
  log.line('DEBUG', `resource: ${job.resource_name}`);
  log.line('DEBUG', `profile: ${job.profile_name}`);
  log.line('DEBUG', `user: ${job.user_email}`);
  log.line('DEBUG', `job: ${job.id}`);
  log.line('DEBUG', `folder: ${job.working_dir}`);
  if (job.snapshot.cluster) {
    log.line('DEBUG', `folder on the cluster: ${job.working_dir_user}`);
    log.line('DEBUG', `account: ${job.slurm_account}`);
    log.line('DEBUG', `worker_init: ${job.worker_init}`);
  }
  log.line('DEBUG', `tasks: ${job.first_task_index + 1} to ${job.last_task_index + 1}`);
  return log;
}
