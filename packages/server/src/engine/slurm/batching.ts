/**
 * How many units go into one Slurm job, and how many of them run at a time.
 *
 *     batches({ total: 8001, cpus: 2, memory: 1000, batching, unitsPerPack: null, parallelUnits: null })
 *     // { unitsPerPack: 9, parallel: 8, warnings: [] }
 *
 * The batching configuration of the resource has targets and limits. One unit more than the targets allow makes the jobs
 * as large as the limits allow: 200 units may be 100 jobs of 2, and 201 units 26 jobs of 8. Existing clients and
 * administrators know these numbers, so they stay.
 */
import type { Batching, SlurmOptions } from './options.ts';

interface Batches {
  /** How many units a Slurm job takes, one after another or at a time. */
  unitsPerPack: number;
  /** How many run at a time in a Slurm job. */
  parallel: number;
  warnings: string[];
}

interface Demand {
  total: number;
  /** Of one unit. */
  cpus: number;
  /** Of one unit, in MB. */
  memory: number;
  batching: Batching;
  /** What the user chose; 0 is no choice. */
  unitsPerPack: number | null;
  parallelUnits: number | null;
}

export const packCount = (total: number, unitsPerPack: number): number => Math.ceil(total / unitsPerPack);

export function batches(demand: Demand): Batches | { problem: string } {
  const problem = unitProblem(demand);
  if (problem !== undefined) return { problem };
  const { unitsPerPack, parallelUnits } = demand;
  if (!unitsPerPack !== !parallelUnits) {
    const [given, missing] = unitsPerPack
      ? ['tasks_per_job', 'parallel_tasks_per_job']
      : ['parallel_tasks_per_job', 'tasks_per_job'];
    return { problem: `${given} is set and ${missing} is not. Set both in the settings of the task, or none.` };
  }
  if (unitsPerPack && parallelUnits) return asChosen(demand, unitsPerPack, parallelUnits);
  return automatic(demand);
}

function unitProblem({ cpus, memory, batching: { max_cpus_per_job, max_mem_per_job } }: Demand): string | undefined {
  if (memory <= 0)
    return 'mem is 0, and a process needs memory. Set mem in the settings of the task, for example "4G".';
  if (cpus > max_cpus_per_job) {
    return `A process needs ${cpus} CPUs (cpus_per_task), and a job on this resource may have ${max_cpus_per_job}. Set fewer in the settings of the task.`;
  }
  if (memory > max_mem_per_job) {
    return `A process needs ${memory} MB of memory (mem), and a job on this resource may have ${max_mem_per_job} MB. Set less in the settings of the task.`;
  }
  return undefined;
}

function asChosen(demand: Demand, unitsPerPack: number, parallelUnits: number): Batches | { problem: string } {
  const { batching, total } = demand;
  const parallel = Math.min(parallelUnits, unitsPerPack);
  const [cpus, memory, jobs] = [parallel * demand.cpus, parallel * demand.memory, packCount(total, unitsPerPack)];
  if (cpus > batching.max_cpus_per_job) {
    return {
      problem: `${parallel} processes at a time need ${cpus} CPUs, and a job on this resource may have ${batching.max_cpus_per_job}. Set a smaller parallel_tasks_per_job.`,
    };
  }
  if (memory > batching.max_mem_per_job) {
    return {
      problem: `${parallel} processes at a time need ${memory} MB of memory, and a job on this resource may have ${batching.max_mem_per_job} MB. Set a smaller parallel_tasks_per_job.`,
    };
  }
  if (jobs > batching.max_num_jobs) {
    return {
      problem: `With ${unitsPerPack} in each, ${total} processes need ${jobs} Slurm jobs, and a task on this resource may have ${batching.max_num_jobs}. Set a larger tasks_per_job.`,
    };
  }
  const warnings = [
    overTarget('CPUs of a job', cpus, batching.target_cpus_per_job),
    overTarget('MB of memory of a job', memory, batching.target_mem_per_job),
    overTarget('Slurm jobs', jobs, batching.target_num_jobs),
  ].filter((warning) => warning !== undefined);
  return { unitsPerPack, parallel, warnings };
}

const overTarget = (what: string, asked: number, target: number) =>
  asked > target ? `${asked} ${what} are more than the target of the resource, ${target}.` : undefined;

function automatic({ total, cpus, memory, batching }: Demand): Batches {
  const fit = (mostCpus: number, mostMemory: number) =>
    cpus > mostCpus || memory > mostMemory ? 1 : Math.min(Math.floor(mostCpus / cpus), Math.floor(mostMemory / memory));
  const whole = (parallel: number) => ({ unitsPerPack: parallel, parallel, warnings: [] });
  const { max_cpus_per_job, max_mem_per_job, max_num_jobs } = batching;
  // nobody checks that a target is below its limit
  const target = fit(
    Math.min(batching.target_cpus_per_job, max_cpus_per_job),
    Math.min(batching.target_mem_per_job, max_mem_per_job),
  );
  if (packCount(total, target) <= Math.min(batching.target_num_jobs, max_num_jobs)) return whole(target);
  const most = fit(max_cpus_per_job, max_mem_per_job);
  if (packCount(total, most) <= max_num_jobs) return whole(most);
  return { unitsPerPack: Math.ceil(total / max_num_jobs), parallel: most, warnings: [] };
}

/**
 * For a phase of a task. One process runs alone. A task that needs a GPU has the one of its job for itself, one unit at a
 * time, unless its user chose otherwise; the jobs take more units only when there would be too many jobs.
 */
export function batchesOf(options: SlurmOptions, total: number, single: boolean): Batches | { problem: string } {
  const { cpus_per_task: cpus, mem: memory, batching_config: batching, needs_gpu } = options;
  const parallelUnits = options.parallel_tasks_per_job ?? (needs_gpu ? 1 : null);
  const few = Math.max(1, Math.ceil(total / batching.max_num_jobs));
  const unitsPerPack = options.tasks_per_job ?? (needs_gpu && parallelUnits === 1 ? few : null);
  const result = batches({ total, cpus, memory, batching, unitsPerPack, parallelUnits });
  return single && 'parallel' in result ? { ...result, unitsPerPack: 1, parallel: 1 } : result;
}
