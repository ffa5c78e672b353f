/** The newest job of each workflow. */
interface OfWorkflow {
  id: number;
  workflow_id: number | null;
}

export function lastJobs<T extends OfWorkflow>(jobs: Iterable<T>): Map<number, T> {
  const newest = new Map<number, T>();
  for (const job of jobs) {
    if (job.workflow_id === null) continue;
    const known = newest.get(job.workflow_id);
    // the same job may come twice, first as it is now
    if (known === undefined || job.id > known.id) newest.set(job.workflow_id, job);
  }
  return newest;
}
