/** What a task asks Slurm for, after resource, task and job were put together (config.ts). Plain data. */
import type { JobRunnerConfigSLURM } from '@service/contract';

export type Batching = JobRunnerConfigSLURM['batching_config'];

/** What becomes of units that ran out of memory or time. */
export interface Retry {
  /** How often they run again, from 1 to 5. */
  times: number;
  mem_factor: number;
  /** In MB. */
  max_mem: number | null;
  time_factor: number;
  max_time: string | null;
}

export interface SlurmOptions {
  partition: string;
  /** Of one unit. */
  cpus_per_task: number;
  /** Of one unit, in MB. */
  mem: number;
  use_mem_per_cpu: boolean;
  job_name: string;
  constraint: string | null;
  gres: string | null;
  gpus: string | null;
  time: string | null;
  account: string | null;
  exclude: string | null;
  nodelist: string | null;
  nodes: number | null;
  shebang_line: string;
  extra_lines: string[];
  /** Of the job; kept as its user wrote them. */
  worker_init: string[];
  user_local_exports: Record<string, string>;
  needs_gpu: boolean;
  /** What the user chose; null where the batching decides. */
  tasks_per_job: number | null;
  parallel_tasks_per_job: number | null;
  batching_config: Batching;
  retry: Retry | null;
}
