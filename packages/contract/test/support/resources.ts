/** Complete resources and profiles, as people send them. */
export const local = () => ({
  type: 'local',
  name: 'My machine',
  jobs_local_dir: '/srv/jobs',
  tasks_local_dir: '/srv/tasks',
  jobs_runner_config: { parallel_tasks_per_job: 1 },
  jobs_poll_interval: 0,
  tasks_python_config: { default_version: '3.12', versions: { '3.12': '/usr/bin/python3.12' } },
  tasks_pixi_config: {},
});

export const slurmSsh = () => ({
  type: 'slurm_ssh',
  name: 'Cluster',
  host: 'login.cluster.example',
  prevent_new_submissions: false,
  jobs_local_dir: '/srv/jobs',
  tasks_local_dir: '/srv/tasks',
  jobs_slurm_python_worker: '/opt/worker/bin/python3.12',
  jobs_poll_interval: 10,
  jobs_runner_config: {
    default_slurm_config: { partition: 'main', cpus_per_task: 1, mem: '100M' },
    gpu_slurm_config: { partition: 'gpu', extra_lines: ['#SBATCH --gres=gpu:1'] },
    user_local_exports: { MODELS_PATH: 'models' },
    batching_config: {
      target_cpus_per_job: 1,
      max_cpus_per_job: 1,
      target_mem_per_job: 200,
      max_mem_per_job: 500,
      target_num_jobs: 2,
      max_num_jobs: 4,
    },
  },
  tasks_python_config: {
    default_version: '3.12',
    versions: { '3.11': '/opt/py/3.11/bin/python', '3.12': '/opt/py/3.12/bin/python' },
    pip_cache_dir: null,
  },
  tasks_pixi_config: {
    default_version: '0.47.0',
    versions: { '0.47.0': '/opt/pixi/0.47.0' },
    SLURM_CONFIG: { partition: 'main', cpus: 4, mem: '8G', time: '60' },
  },
});

/** "For sudo drop `host` and, if wanted, `SLURM_CONFIG`." */
export const slurmSudo = () => {
  const { host: _, tasks_pixi_config: pixi, ...rest } = slurmSsh();
  const { default_version, versions } = pixi;
  return { ...rest, type: 'slurm_sudo', tasks_pixi_config: { default_version, versions } };
};
