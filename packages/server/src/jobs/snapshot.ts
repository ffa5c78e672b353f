/** What a job runs, as it was when it was submitted: later edits of the workflow do not touch it. */
import type { JobRunnerConfigSLURM, JsonObject, TaskType } from '@service/contract';

import type { ClusterAddress } from '../slurm/index.ts';

type Flags = Record<string, boolean>;

export interface SnapshotTask {
  workflowtask: {
    id: number;
    workflow_id: number;
    order: number;
    meta_parallel: JsonObject | null;
    meta_non_parallel: JsonObject | null;
    args_parallel: JsonObject | null;
    args_non_parallel: JsonObject | null;
    type_filters: Flags;
    task_type: TaskType;
    task_id: number;
    alias: string | null;
    description: string | null;
  };
  task: {
    id: number;
    name: string;
    type: TaskType;
    command_non_parallel: string | null;
    command_parallel: string | null;
    version: string;
    input_types: Flags;
    output_types: Flags;
  };
  task_group: {
    id: number;
    origin: string;
    pkg_name: string;
    version: string;
    python_version: string | null;
    pip_extras: string | null;
    pinned_package_versions_pre: Record<string, string>;
    pinned_package_versions_post: Record<string, string>;
    path: string | null;
    venv_path: string | null;
    archive_path: string | null;
  };
}

export interface ClusterAccess extends ClusterAddress {
  config: JobRunnerConfigSLURM;
}

export interface Snapshot {
  /** The tasks of the range that runs, in order. */
  tasks: SnapshotTask[];
  zarr_dir: string;
  /** Handed to tasks as FRACTAL_CACHE_DIR; null where the submitter has no folder on a file system. */
  cache_dir: string | null;
  /** The account of this machine that runs its tasks, where it is not that of the service. */
  account?: string;
  /** Where it runs, when that is a cluster. */
  cluster?: ClusterAccess;
}
