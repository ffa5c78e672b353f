/**
 * The tables of existing deployments: their columns, what identifies a row, and which rows they refer to.
 *
 * Columns are always named: their order differs between fresh and upgraded databases.
 */

interface Reference {
  column: string;
  to: SourceTable;
  /** A reference that leads nowhere becomes null; otherwise its row cannot be kept. */
  nullable?: true;
}

interface Described {
  columns: readonly string[];
  /** `id`, where it is not said. */
  key?: readonly string[];
  references?: readonly Reference[];
  /** What is nobody's business: never copied, never kept. */
  secret?: readonly string[];
}

export type SourceTable =
  | 'resource'
  | 'profile'
  | 'user_oauth'
  | 'oauthaccount'
  | 'usergroup'
  | 'linkusergroup'
  | 'taskgroupv2'
  | 'taskv2'
  | 'projectv2'
  | 'linkuserprojectv2'
  | 'datasetv2'
  | 'workflowtemplate'
  | 'workflowv2'
  | 'workflowtaskv2'
  | 'jobv2'
  | 'historyrun'
  | 'historyunit'
  | 'historyimagecache'
  | 'taskgroupactivityv2'
  | 'accountingrecord'
  | 'accountingrecordslurm';

/** Parents come first. */
export const SOURCE_TABLES: Record<SourceTable, Described> = {
  resource: {
    columns: [
      'id',
      'type',
      'name',
      'timestamp_created',
      'host',
      'prevent_new_submissions',
      'jobs_local_dir',
      'jobs_runner_config',
      'jobs_slurm_python_worker',
      'jobs_poll_interval',
      'tasks_local_dir',
      'tasks_python_config',
      'tasks_pixi_config',
    ],
  },
  profile: {
    columns: [
      'id',
      'resource_id',
      'resource_type',
      'name',
      'username',
      'ssh_key_path',
      'jobs_remote_dir',
      'tasks_remote_dir',
      'pixi_cache_dir',
    ],
    references: [{ column: 'resource_id', to: 'resource' }],
  },
  user_oauth: {
    columns: [
      'id',
      'email',
      'hashed_password',
      'is_active',
      'is_superuser',
      'is_verified',
      'is_guest',
      'profile_id',
      'project_dirs',
      'slurm_accounts',
    ],
    references: [{ column: 'profile_id', to: 'profile', nullable: true }],
  },
  oauthaccount: {
    columns: ['id', 'user_id', 'oauth_name', 'account_id', 'account_email'],
    secret: ['access_token', 'expires_at', 'refresh_token'],
    references: [{ column: 'user_id', to: 'user_oauth' }],
  },
  usergroup: { columns: ['id', 'name', 'timestamp_created'] },
  linkusergroup: {
    columns: ['group_id', 'user_id', 'timestamp_created'],
    key: ['group_id', 'user_id'],
    references: [
      { column: 'group_id', to: 'usergroup' },
      { column: 'user_id', to: 'user_oauth' },
    ],
  },
  taskgroupv2: {
    columns: [
      'id',
      'user_id',
      'user_group_id',
      'resource_id',
      'origin',
      'pkg_name',
      'version',
      'python_version',
      'pixi_version',
      'path',
      'venv_path',
      'archive_path',
      'pip_extras',
      'env_info',
      'pinned_package_versions_pre',
      'pinned_package_versions_post',
      'active',
      'timestamp_created',
      'timestamp_last_used',
    ],
    references: [
      { column: 'user_id', to: 'user_oauth' },
      { column: 'user_group_id', to: 'usergroup', nullable: true },
      { column: 'resource_id', to: 'resource' },
    ],
  },
  taskv2: {
    columns: [
      'id',
      'taskgroupv2_id',
      'name',
      'type',
      'version',
      'is_core',
      'command_non_parallel',
      'command_parallel',
      'meta_non_parallel',
      'meta_parallel',
      'args_schema_non_parallel',
      'args_schema_parallel',
      'args_schema_version',
      'docs_info',
      'docs_link',
      'input_types',
      'output_types',
      'category',
      'modality',
      'authors',
      'tags',
    ],
    references: [{ column: 'taskgroupv2_id', to: 'taskgroupv2' }],
  },
  projectv2: {
    columns: ['id', 'name', 'description', 'is_starred', 'resource_id', 'timestamp_created'],
    references: [{ column: 'resource_id', to: 'resource' }],
  },
  linkuserprojectv2: {
    columns: ['project_id', 'user_id', 'is_owner', 'is_verified', 'permissions'],
    key: ['project_id', 'user_id'],
    references: [
      { column: 'project_id', to: 'projectv2' },
      { column: 'user_id', to: 'user_oauth' },
    ],
  },
  datasetv2: {
    columns: ['id', 'name', 'project_id', 'is_starred', 'timestamp_created', 'zarr_dir', 'images'],
    references: [{ column: 'project_id', to: 'projectv2' }],
  },
  workflowtemplate: {
    columns: [
      'id',
      'user_id',
      'user_group_id',
      'name',
      'version',
      'description',
      'data',
      'fractal_server_version',
      'timestamp_created',
      'timestamp_last_used',
    ],
    references: [
      { column: 'user_id', to: 'user_oauth' },
      { column: 'user_group_id', to: 'usergroup', nullable: true },
    ],
  },
  workflowv2: {
    columns: ['id', 'name', 'description', 'project_id', 'template_id', 'is_starred', 'timestamp_created'],
    references: [
      { column: 'project_id', to: 'projectv2' },
      { column: 'template_id', to: 'workflowtemplate', nullable: true },
    ],
  },
  workflowtaskv2: {
    columns: [
      'id',
      'workflow_id',
      'task_id',
      'order',
      'task_type',
      'meta_non_parallel',
      'meta_parallel',
      'args_non_parallel',
      'args_parallel',
      'type_filters',
      'alias',
      'description',
    ],
    references: [
      { column: 'workflow_id', to: 'workflowv2' },
      { column: 'task_id', to: 'taskv2' },
    ],
  },
  jobv2: {
    columns: [
      'id',
      'project_id',
      'workflow_id',
      'dataset_id',
      'user_email',
      'slurm_account',
      'worker_init',
      'working_dir',
      'working_dir_user',
      'dataset_dump',
      'workflow_dump',
      'project_dump',
      'fractal_server_version',
      'first_task_index',
      'last_task_index',
      'start_timestamp',
      'end_timestamp',
      'status',
      'log',
      'executor_error_log',
      'attribute_filters',
      'type_filters',
    ],
    references: [
      { column: 'project_id', to: 'projectv2', nullable: true },
      { column: 'workflow_id', to: 'workflowv2', nullable: true },
      { column: 'dataset_id', to: 'datasetv2', nullable: true },
    ],
  },
  historyrun: {
    columns: [
      'id',
      'dataset_id',
      'workflowtask_id',
      'job_id',
      'task_id',
      'workflowtask_dump',
      'task_group_dump',
      'timestamp_started',
      'status',
      'num_available_images',
    ],
    references: [
      { column: 'dataset_id', to: 'datasetv2' },
      { column: 'workflowtask_id', to: 'workflowtaskv2', nullable: true },
      { column: 'job_id', to: 'jobv2' },
      { column: 'task_id', to: 'taskv2', nullable: true },
    ],
  },
  historyunit: {
    columns: ['id', 'history_run_id', 'logfile', 'has_warnings', 'status', 'zarr_urls'],
    references: [{ column: 'history_run_id', to: 'historyrun' }],
  },
  historyimagecache: {
    columns: ['dataset_id', 'workflowtask_id', 'zarr_url', 'latest_history_unit_id'],
    key: ['dataset_id', 'workflowtask_id', 'zarr_url'],
    references: [
      { column: 'dataset_id', to: 'datasetv2' },
      { column: 'workflowtask_id', to: 'workflowtaskv2' },
      { column: 'latest_history_unit_id', to: 'historyunit' },
    ],
  },
  taskgroupactivityv2: {
    columns: [
      'id',
      'user_id',
      'taskgroupv2_id',
      'timestamp_started',
      'timestamp_ended',
      'pkg_name',
      'version',
      'status',
      'action',
      'log',
      'fractal_server_version',
    ],
    references: [
      { column: 'user_id', to: 'user_oauth' },
      { column: 'taskgroupv2_id', to: 'taskgroupv2', nullable: true },
    ],
  },
  accountingrecord: {
    columns: ['id', 'user_id', 'timestamp', 'num_tasks', 'num_new_images'],
    references: [{ column: 'user_id', to: 'user_oauth' }],
  },
  accountingrecordslurm: {
    columns: ['id', 'user_id', 'timestamp', 'slurm_job_ids', 'fractal_job_id', 'resource_id'],
    references: [
      { column: 'user_id', to: 'user_oauth' },
      { column: 'fractal_job_id', to: 'jobv2', nullable: true },
      { column: 'resource_id', to: 'resource', nullable: true },
    ],
  },
};

export const sourceTableNames = Object.keys(SOURCE_TABLES) as SourceTable[];
export const keyOf = (table: SourceTable): readonly string[] => SOURCE_TABLES[table].key ?? ['id'];
export const referencesOf = (table: SourceTable): readonly Reference[] => SOURCE_TABLES[table].references ?? [];
