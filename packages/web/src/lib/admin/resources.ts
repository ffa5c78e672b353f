/** Resources: their kinds, and the form that is made from the schema of each kind. */
import schemas from 'virtual:resource-schemas';
import type { Resource } from '@service/contract';

import { prepareSchema, type PreparedSchema } from '../form/schema.ts';

export type ResourceKind = Resource['type'];

export const RESOURCE_KINDS: { kind: ResourceKind; name: string; about: string }[] = [
  { kind: 'local', name: 'This machine', about: 'Jobs run where the service runs.' },
  { kind: 'slurm_sudo', name: 'Slurm, through sudo', about: 'The service submits as the user of the profile.' },
  { kind: 'slurm_ssh', name: 'Slurm, through SSH', about: 'The service connects to a login node with a key.' },
];

export const resourceKind = (kind: string): string => RESOURCE_KINDS.find((one) => one.kind === kind)?.name ?? kind;

/** What is not set is left out, as the service wants it. */
export const resourceSchema = (kind: ResourceKind): PreparedSchema => prepareSchema(schemas[kind], 'pydantic_v2');

/** Left out with what is empty, but asked for: nothing inside means "as it comes". */
export const complete = (data: unknown): Record<string, unknown> => ({
  tasks_pixi_config: {},
  jobs_runner_config: {},
  ...(data as Record<string, unknown>),
});

/** A resource as the form holds it: without what the service adds, and what its kind cannot have. */
export function editable(resource: Resource): Record<string, unknown> {
  const known = Object.keys(schemas[resource.type]['properties'] as object);
  return Object.fromEntries(Object.entries(resource).filter(([key]) => known.includes(key)));
}

/** What a new one begins with. */
export const blank = (kind: ResourceKind): Record<string, unknown> => ({
  type: kind,
  name: '',
  jobs_local_dir: '',
  tasks_local_dir: '',
  tasks_python_config: { default_version: '3.12', versions: { '3.12': '/usr/bin/python3' } },
  tasks_pixi_config: {},
  jobs_runner_config:
    kind === 'local'
      ? { parallel_tasks_per_job: null }
      : {
          default_slurm_config: { partition: 'main', cpus_per_task: 1, mem: '2G' },
          batching_config: {
            target_cpus_per_job: 4,
            max_cpus_per_job: 8,
            target_mem_per_job: '8G',
            max_mem_per_job: '16G',
            target_num_jobs: 10,
            max_num_jobs: 100,
          },
        },
  ...(kind === 'local' ? {} : { jobs_slurm_python_worker: '/usr/bin/python3' }),
  ...(kind === 'slurm_ssh' ? { host: '' } : {}),
});
