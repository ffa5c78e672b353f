/**
 * The tables of an existing deployment, as its releases 2.23.4 to 2.26.0 make them: columns, keys and rules, written down
 * from their description. Databases that were upgraded have the same columns in another order and other names of rules.
 */

export const REVISIONS = ['daecd41f37da', 'd4027db95431', '3ddaf7271fc3', '0c5e3f92c3a8'] as const;
export type Revision = (typeof REVISIONS)[number];

/** Column → type and rules. */
type Columns = Record<string, string>;

const ID = 'integer not null';
const TEXT = 'character varying';
const TIME = 'timestamp with time zone';

export const COLUMNS: Record<string, Columns> = {
  resource: {
    id: ID,
    type: `${TEXT} not null`,
    name: `${TEXT} not null unique`,
    timestamp_created: `${TIME} not null`,
    host: TEXT,
    prevent_new_submissions: 'boolean not null default false',
    jobs_local_dir: `${TEXT} not null`,
    jobs_runner_config: `jsonb not null default '{}'`,
    jobs_slurm_python_worker: TEXT,
    jobs_poll_interval: 'integer not null',
    tasks_local_dir: `${TEXT} not null`,
    tasks_python_config: `jsonb not null default '{}'`,
    tasks_pixi_config: `jsonb not null default '{}'`,
  },
  profile: {
    id: ID,
    resource_id: 'integer not null references resource on delete restrict',
    resource_type: `${TEXT} not null`,
    name: `${TEXT} not null unique`,
    username: TEXT,
    ssh_key_path: TEXT,
    jobs_remote_dir: TEXT,
    tasks_remote_dir: TEXT,
    pixi_cache_dir: TEXT,
  },
  user_oauth: {
    id: ID,
    email: `${TEXT} not null unique`,
    hashed_password: `${TEXT} not null`,
    is_active: 'boolean not null',
    is_superuser: 'boolean not null',
    is_verified: 'boolean not null',
    is_guest: 'boolean not null default false',
    profile_id: 'integer references profile on delete restrict',
    project_dirs: `${TEXT}[] not null`,
    slurm_accounts: `${TEXT}[] default '{}'`,
  },
  oauthaccount: {
    id: ID,
    user_id: 'integer not null references user_oauth',
    oauth_name: `${TEXT} not null`,
    access_token: `${TEXT} not null`,
    expires_at: 'integer',
    refresh_token: TEXT,
    account_id: `${TEXT} not null`,
    account_email: `${TEXT} not null`,
  },
  usergroup: { id: ID, name: `${TEXT} not null unique`, timestamp_created: `${TIME} not null` },
  linkusergroup: {
    group_id: 'integer not null references usergroup on delete cascade',
    user_id: 'integer not null references user_oauth on delete cascade',
    timestamp_created: `${TIME} not null default '2000-01-01 00:00:00+00'`,
  },
  projectv2: {
    id: ID,
    name: `${TEXT} not null`,
    description: TEXT,
    is_starred: 'boolean not null default false',
    resource_id: 'integer not null references resource on delete restrict',
    timestamp_created: `${TIME} not null`,
  },
  linkuserprojectv2: {
    project_id: 'integer not null references projectv2 on delete cascade',
    user_id: 'integer not null references user_oauth',
    is_owner: 'boolean not null',
    is_verified: 'boolean not null',
    permissions: `${TEXT} not null check (permissions in ('r', 'rw', 'rwx'))`,
  },
  datasetv2: {
    id: ID,
    name: `${TEXT} not null`,
    project_id: 'integer not null references projectv2 on delete cascade',
    is_starred: 'boolean not null default false',
    timestamp_created: `${TIME} not null`,
    zarr_dir: `${TEXT} not null`,
    images: `jsonb not null default '[]'`,
  },
  workflowtemplate: {
    id: ID,
    user_id: 'integer not null references user_oauth',
    user_group_id: 'integer references usergroup on delete set null',
    name: `${TEXT} not null`,
    version: 'integer not null',
    description: TEXT,
    data: 'json not null',
    fractal_server_version: `${TEXT} not null`,
    timestamp_created: `${TIME} not null`,
    timestamp_last_used: `${TIME} not null`,
  },
  workflowv2: {
    id: ID,
    name: `${TEXT} not null`,
    project_id: 'integer not null references projectv2 on delete cascade',
    description: TEXT,
    template_id: 'integer references workflowtemplate on delete set null',
    is_starred: 'boolean not null default false',
    timestamp_created: `${TIME} not null`,
  },
  taskgroupv2: {
    id: ID,
    user_id: 'integer not null references user_oauth',
    user_group_id: 'integer references usergroup on delete set null',
    resource_id: 'integer not null references resource on delete restrict',
    origin: `${TEXT} not null`,
    pkg_name: `${TEXT} not null`,
    version: `${TEXT} not null`,
    python_version: TEXT,
    pixi_version: TEXT,
    path: TEXT,
    venv_path: TEXT,
    archive_path: TEXT,
    pip_extras: TEXT,
    env_info: TEXT,
    pinned_package_versions_pre: `jsonb default '{}'`,
    pinned_package_versions_post: `jsonb default '{}'`,
    active: 'boolean not null',
    timestamp_created: `${TIME} not null`,
    timestamp_last_used: `${TIME} not null`,
  },
  taskv2: {
    id: ID,
    name: `${TEXT} not null`,
    type: `${TEXT} not null`,
    command_non_parallel: TEXT,
    command_parallel: TEXT,
    meta_non_parallel: `json not null default '{}'`,
    meta_parallel: `json not null default '{}'`,
    version: `${TEXT} not null`,
    args_schema_non_parallel: 'json',
    args_schema_parallel: 'json',
    args_schema_version: TEXT,
    docs_info: TEXT,
    docs_link: TEXT,
    input_types: 'jsonb',
    output_types: 'jsonb',
    taskgroupv2_id: 'integer not null references taskgroupv2',
    category: TEXT,
    modality: TEXT,
    authors: TEXT,
    tags: `jsonb not null default '[]'`,
    is_core: 'boolean not null default false',
  },
  workflowtaskv2: {
    id: ID,
    workflow_id: 'integer not null references workflowv2 on delete cascade',
    order: 'integer',
    meta_parallel: 'json',
    meta_non_parallel: 'json',
    args_parallel: 'jsonb',
    args_non_parallel: 'jsonb',
    type_filters: `jsonb not null default '{}'`,
    task_type: `${TEXT} not null`,
    task_id: 'integer not null references taskv2',
    alias: TEXT,
    description: TEXT,
  },
  taskgroupactivityv2: {
    id: ID,
    user_id: 'integer not null references user_oauth',
    taskgroupv2_id: 'integer references taskgroupv2 on delete set null',
    timestamp_started: `${TIME} not null`,
    timestamp_ended: TIME,
    pkg_name: `${TEXT} not null`,
    version: `${TEXT} not null`,
    status: `${TEXT} not null`,
    action: `${TEXT} not null`,
    log: TEXT,
    fractal_server_version: `${TEXT} not null default 'pre-2.19.0'`,
  },
  jobv2: {
    id: ID,
    project_id: 'integer references projectv2 on delete set null',
    workflow_id: 'integer references workflowv2 on delete set null',
    dataset_id: 'integer references datasetv2 on delete set null',
    user_email: `${TEXT} not null`,
    slurm_account: TEXT,
    dataset_dump: 'jsonb not null',
    workflow_dump: 'jsonb not null',
    project_dump: 'jsonb not null',
    fractal_server_version: `${TEXT} not null default 'pre-2.19.0'`,
    worker_init: TEXT,
    working_dir: TEXT,
    working_dir_user: TEXT,
    first_task_index: 'integer not null',
    last_task_index: 'integer not null',
    start_timestamp: `${TIME} not null`,
    end_timestamp: TIME,
    status: `${TEXT} not null`,
    log: TEXT,
    executor_error_log: TEXT,
    attribute_filters: `jsonb not null default '{}'`,
    type_filters: `jsonb not null default '{}'`,
  },
  historyrun: {
    id: ID,
    dataset_id: 'integer not null references datasetv2 on delete cascade',
    workflowtask_id: 'integer references workflowtaskv2 on delete set null',
    job_id: 'integer not null references jobv2',
    task_id: 'integer references taskv2 on delete set null',
    workflowtask_dump: 'jsonb not null',
    task_group_dump: 'jsonb not null',
    timestamp_started: `${TIME} not null`,
    status: `${TEXT} not null`,
    num_available_images: 'integer not null',
  },
  historyunit: {
    id: ID,
    history_run_id: 'integer not null references historyrun on delete cascade',
    logfile: `${TEXT} not null default '__LOGFILE_PLACEHOLDER__'`,
    has_warnings: 'boolean not null',
    status: `${TEXT} not null`,
    zarr_urls: `${TEXT}[]`,
  },
  historyimagecache: {
    zarr_url: `${TEXT} not null`,
    dataset_id: 'integer not null references datasetv2 on delete cascade',
    workflowtask_id: 'integer not null references workflowtaskv2 on delete cascade',
    latest_history_unit_id: 'integer not null references historyunit on delete cascade',
  },
  accountingrecord: {
    id: ID,
    user_id: 'integer not null references user_oauth',
    timestamp: `${TIME} not null`,
    num_tasks: 'integer not null',
    num_new_images: 'integer not null',
  },
  accountingrecordslurm: {
    id: ID,
    user_id: 'integer not null references user_oauth',
    timestamp: `${TIME} not null`,
    slurm_job_ids: 'integer[]',
    fractal_job_id: 'integer references jobv2',
    resource_id: 'integer references resource on delete set null',
  },
};

const KEYS: Record<string, string> = {
  linkusergroup: 'group_id, user_id',
  linkuserprojectv2: 'project_id, user_id',
  historyimagecache: 'zarr_url, dataset_id, workflowtask_id',
};

const INDEXES = [
  'create unique index on linkuserprojectv2 (project_id) where is_owner',
  'create unique index on taskgroupv2 (path, resource_id)',
  'create unique index on taskv2 (name, taskgroupv2_id)',
  'create unique index on workflowtemplate (user_id, name, version)',
  `create unique index on taskgroupactivityv2 (taskgroupv2_id) where action = 'collect'`,
  `create unique index on jobv2 (dataset_id) where status = 'submitted'`,
  'create index on historyunit (history_run_id)',
  'create index on historyimagecache (dataset_id)',
  'create index on historyimagecache (workflowtask_id)',
  'create index on historyimagecache (latest_history_unit_id)',
];

/** What the releases changed between these revisions. */
const CHANGES: Record<Revision, string[]> = {
  daecd41f37da: ['alter table historyunit alter column has_warnings set default false'],
  d4027db95431: [],
  '3ddaf7271fc3': ['alter table user_oauth add check (not (is_superuser and is_guest))'],
  '0c5e3f92c3a8': [
    'alter table user_oauth add check (not (is_superuser and is_guest))',
    'alter table historyunit alter column zarr_urls set not null',
  ],
};

/** `upgraded` databases have their columns in another order. */
export function existingSchema(revision: Revision, { upgraded = false } = {}): string {
  const tables = Object.entries(COLUMNS).map(([table, columns]) => {
    const lines = Object.entries(columns).map(([name, rules]) => `"${name}" ${rules}`);
    if (upgraded) lines.reverse();
    return `create table ${table} (${lines.join(', ')}, primary key (${KEYS[table] ?? 'id'}))`;
  });
  const sequences = Object.keys(COLUMNS)
    .filter((table) => KEYS[table] === undefined)
    .flatMap((table) => [
      `create sequence ${table}_id_seq as integer owned by ${table}.id`,
      `alter table ${table} alter column id set default nextval('${table}_id_seq')`,
    ]);
  return [
    ...tables,
    ...sequences,
    ...INDEXES,
    ...CHANGES[revision],
    'create table alembic_version (version_num varchar(32) primary key)',
    `insert into alembic_version values ('${revision}')`,
  ].join(';\n');
}
