/** A profile on a resource that is reached by SSH, and where there is no such interpreter as it names. */
import type { TestService } from './server.ts';
import { addResourceAndProfile } from './tasks.ts';

const RUNNER = {
  default_slurm_config: { partition: 'main', cpus_per_task: 1, mem: 100 },
  batching_config: {
    target_cpus_per_job: 1,
    max_cpus_per_job: 1,
    target_mem_per_job: 200,
    max_mem_per_job: 200,
    target_num_jobs: 2,
    max_num_jobs: 4,
  },
};

/** Its task groups go below the folder `remote`. */
export async function addFarProfile(service: TestService, remote: string): Promise<number> {
  const { db } = service.database;
  const { resource_id, profile_id } = await addResourceAndProfile(service);
  await db
    .updateTable('resources')
    .set({
      type: 'slurm_ssh',
      host: 'login.example.org',
      tasks_local_dir: '/nowhere',
      jobs_runner_config: JSON.stringify(RUNNER),
      jobs_slurm_python_worker: '/usr/bin/python3',
      tasks_python_config: JSON.stringify({ default_version: '3.12', versions: { '3.12': '/no/such/python' } }),
    })
    .where('id', '=', resource_id)
    .execute();
  await db
    .updateTable('profiles')
    .set({
      resource_type: 'slurm_ssh',
      username: 'alice',
      ssh_key_path: '/keys/alice',
      jobs_remote_dir: '/jobs',
      tasks_remote_dir: remote,
    })
    .where('id', '=', profile_id)
    .execute();
  return profile_id;
}
