/** A resource on a cluster, and what a task asks for there. */
import { JobRunnerConfigSLURM, type JsonObject } from '@service/contract';

import { slurmOptions } from '../../../src/engine/slurm/config.ts';
import type { SlurmOptions } from '../../../src/engine/slurm/options.ts';

export const BATCHING = {
  target_num_jobs: 100,
  max_num_jobs: 1000,
  target_cpus_per_job: 4,
  max_cpus_per_job: 16,
  target_mem_per_job: 10_000,
  max_mem_per_job: 32_000,
};

/** As it is stored: read by its schema, with every key in it. */
const resource = (
  section: JsonObject = {},
  gpu: JsonObject | null = null,
  more: JsonObject = {},
): JobRunnerConfigSLURM =>
  JobRunnerConfigSLURM.parse({
    default_slurm_config: { partition: 'main', cpus_per_task: 2, mem: '1G', shebang_line: '#!/bin/bash', ...section },
    gpu_slurm_config: gpu && { shebang_line: '#!/bin/sh', ...gpu },
    batching_config: BATCHING,
    ...more,
  });

export interface Asked {
  section?: JsonObject;
  gpu?: JsonObject | null;
  more?: JsonObject;
  meta?: JsonObject | null;
  taskName?: string;
  account?: string | null;
  workerInit?: string | null;
}

export const ask = ({ section, gpu, more, meta = null, taskName = 'task', account = null, workerInit = null }: Asked) =>
  slurmOptions({ config: resource(section, gpu, more), meta, taskName, account, workerInit });

export function optionsFor(asked: Asked = {}): SlurmOptions {
  const answer = ask(asked);
  if ('problem' in answer) throw new Error(answer.problem);
  return answer.options;
}
