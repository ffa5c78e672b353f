/**
 * A deployment on the test cluster: the service runs as svcuser, its jobs run as alice, through sudo or through SSH.
 *
 *     const deployment = await openClusterDeployment({ type: 'slurm_ssh' });
 *     const job = await deployment.lab.run(flow, dataset);
 */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { JsonObject, ResourceType } from '@service/contract';

import { openDeployment, type Site } from '../../support/deployment.ts';
import { CHECKOUT, folderOf, SSH } from './commands.ts';
import { launchService } from './service.ts';

export type ClusterType = Exclude<ResourceType, 'local'>;

const BATCHING = {
  target_cpus_per_job: 2,
  max_cpus_per_job: 16,
  target_mem_per_job: 400,
  max_mem_per_job: 4000,
  target_num_jobs: 100,
  max_num_jobs: 1000,
};

interface ClusterOptions {
  type: ClusterType;
  database?: 'embedded' | 'given';
  /** Of the default section. */
  slurm?: JsonObject;
  batching?: Partial<typeof BATCHING>;
  pollInterval?: number;
  settings?: Record<string, string>;
}

const runnerConfig = ({ slurm, batching }: ClusterOptions): string =>
  JSON.stringify({
    default_slurm_config: { partition: 'main', cpus_per_task: 1, mem: 100, extra_lines: [], ...slurm },
    gpu_slurm_config: null,
    batching_config: { ...BATCHING, ...batching },
    user_local_exports: {},
  });

export function openClusterDeployment(options: ClusterOptions) {
  const { type } = options;
  const folder = folderOf('svcuser');
  const root = folderOf('alice');
  // the lab is made by who runs the tests, and written to by alice
  chmodSync(root, 0o777);
  const data = join(folder, 'data');
  const jobs = join(folder, 'jobs');
  const remote = join(root, 'remote');
  mkdirSync(remote);
  chmodSync(remote, 0o777);
  const isSsh = type === 'slurm_ssh';
  const site: Site = {
    folder,
    data,
    root,
    start: (args, environment) => launchService('svcuser', args, environment),
    lab: {
      script: join(CHECKOUT, 'packages/server/test/support/scripted_task.py'),
      resource: {
        type,
        host: isSsh ? `${SSH.host}:${SSH.port}` : null,
        jobs_local_dir: jobs,
        jobs_slurm_python_worker: '/usr/bin/python3',
        jobs_poll_interval: options.pollInterval ?? 1,
        jobs_runner_config: runnerConfig(options),
      },
      profile: {
        resource_type: type,
        username: 'alice',
        ssh_key_path: isSsh ? SSH.keyOf('alice') : null,
        jobs_remote_dir: isSsh ? remote : null,
        tasks_remote_dir: isSsh ? join(root, 'tasks') : null,
      },
    },
    runningJobs: isSsh ? join(data, 'running-jobs') : join(jobs, '.service'),
  };
  return openDeployment({
    database: options.database ?? 'given',
    settings: { SERVICE_RUNNER_BACKEND: type, ...options.settings },
    site,
  });
}
