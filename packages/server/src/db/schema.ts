/** The tables as TypeScript sees them. The migrations make them; the two must agree. */
import type { ColumnType, Generated, JSONColumnType } from 'kysely';

import type {
  ActivityAction,
  ActivityStatus,
  ActivityStep,
  AuditAction,
  AuditObject,
  AuditVia,
  Cause,
  ImageStatus,
  FoundByRule,
  ImportOverview,
  ImportReport,
  JobFailure,
  JobStatus,
  JsonObject,
  Permissions,
  ResourceType,
  Scalar,
  TaskType,
  TokenScope,
} from '@service/contract';

/** A moment as text, in UTC with microseconds: `2026-01-31T12:00:00.123456+00:00`. */
type Timestamp = Generated<string>;
/** Who did something last, and when; null where nobody knows. */
type Noted<What extends string> = Record<`${What}_by`, Generated<number | null>> &
  Record<`${What}_at`, Generated<string | null>>;
type Json = JSONColumnType<Record<string, unknown>, unknown, unknown>;

export interface ResourcesTable {
  id: Generated<number>;
  name: string;
  type: ResourceType;
  prevent_new_submissions: Generated<boolean>;
  timestamp_created: Timestamp;
  host: string | null;
  jobs_local_dir: string;
  jobs_runner_config: Json;
  jobs_slurm_python_worker: string | null;
  jobs_poll_interval: number;
  tasks_local_dir: string;
  tasks_python_config: Json;
  tasks_pixi_config: Json;
}

interface ProfilesTable {
  id: Generated<number>;
  name: string;
  resource_id: number;
  resource_type: ResourceType;
  username: string | null;
  ssh_key_path: string | null;
  jobs_remote_dir: string | null;
  tasks_remote_dir: string | null;
  pixi_cache_dir: string | null;
}

export interface UsersTable {
  id: Generated<number>;
  email: string;
  hashed_password: string;
  is_active: Generated<boolean>;
  is_superuser: Generated<boolean>;
  is_verified: Generated<boolean>;
  is_guest: Generated<boolean>;
  profile_id: number | null;
  project_dirs: string[];
  slurm_accounts: Generated<string[]>;
  timestamp_created: Timestamp;
  /** Sessions of a lower number have ended. */
  token_generation: Generated<number>;
}

interface PersonalTokensTable {
  id: Generated<number>;
  user_id: number;
  name: string;
  scope: TokenScope;
  hash: Buffer;
  timestamp_created: Timestamp;
  timestamp_expires: string;
  timestamp_last_used: string | null;
  timestamp_revoked: string | null;
}

interface OAuthAccountsTable {
  id: Generated<number>;
  user_id: number;
  oauth_name: string;
  account_id: string;
  account_email: string;
}

interface UserGroupsTable {
  id: Generated<number>;
  name: string;
  timestamp_created: Timestamp;
}

interface GroupMembersTable {
  group_id: number;
  user_id: number;
  timestamp_joined: Timestamp;
}

/** A JSON column: read as a value, written as text (`JSON.stringify`), so that numbers stay as they were written. */
type JsonText<T> = ColumnType<T, string, string>;
type JsonTextWithDefault<T> = ColumnType<T, string | undefined, string>;
type OptionalJsonText<T> = ColumnType<T | null, string | null | undefined, string | null>;
type Flags = Record<string, boolean>;

interface TaskGroupsTable {
  id: Generated<number>;
  user_id: number;
  user_group_id: number | null;
  resource_id: number;
  origin: 'pypi' | 'wheel-file' | 'pixi' | 'other';
  pkg_name: string;
  version: string;
  python_version: string | null;
  pixi_version: string | null;
  path: string | null;
  venv_path: string | null;
  archive_path: string | null;
  pip_extras: string | null;
  env_info: string | null;
  pinned_package_versions_pre: JsonTextWithDefault<Record<string, string>>;
  pinned_package_versions_post: JsonTextWithDefault<Record<string, string>>;
  active: Generated<boolean>;
  timestamp_created: Timestamp;
  timestamp_last_used: Timestamp;
  /** 0, but for imported groups that equal an older one: these have their own id. */
  twin: Generated<number>;
}

interface TasksTable extends Noted<'commands_changed'> {
  id: Generated<number>;
  taskgroupv2_id: number;
  name: string;
  type: TaskType;
  version: string;
  is_core: Generated<boolean>;
  command_non_parallel: string | null;
  command_parallel: string | null;
  meta_non_parallel: JsonTextWithDefault<JsonObject>;
  meta_parallel: JsonTextWithDefault<JsonObject>;
  args_schema_non_parallel: OptionalJsonText<JsonObject>;
  args_schema_parallel: OptionalJsonText<JsonObject>;
  args_schema_version: string | null;
  docs_info: string | null;
  docs_link: string | null;
  input_types: JsonTextWithDefault<Flags>;
  output_types: JsonTextWithDefault<Flags>;
  category: string | null;
  modality: string | null;
  authors: string | null;
  tags: Generated<string[]>;
}

interface ProjectsTable {
  id: Generated<number>;
  name: string;
  description: string | null;
  is_starred: Generated<boolean>;
  resource_id: number;
  owner_id: number;
  timestamp_created: Timestamp;
}

interface ProjectGuestsTable {
  project_id: number;
  user_id: number;
  is_verified: Generated<boolean>;
  permissions: Permissions;
}

/** A view: owners and guests together. */
interface ProjectLinksView {
  project_id: number;
  user_id: number;
  is_owner: boolean;
  is_verified: boolean;
  permissions: Permissions;
}

interface DatasetsTable {
  id: Generated<number>;
  name: string;
  project_id: number;
  is_starred: Generated<boolean>;
  timestamp_created: Timestamp;
  zarr_dir: string;
  /** The project folder above it, of whoever made it; null where nobody knows. */
  project_dir: string | null;
  /** Kept by triggers. */
  num_images: Generated<number>;
  /** Where the next image goes; taking positions locks the dataset. */
  next_position: Generated<number>;
}

interface ImagesTable {
  dataset_id: number;
  position: number;
  zarr_url: string;
  origin: string | null;
  attributes: JsonTextWithDefault<Record<string, Scalar>>;
  types: JsonTextWithDefault<Flags>;
  /** Computed by the database where they are not given. */
  tags: ColumnType<string[], string[] | undefined, never>;
}

/** How many images of a dataset have a value; kept by triggers. */
interface ImageFacetsTable {
  dataset_id: number;
  tag: string;
  kind: 'attribute' | 'type';
  key: string;
  value: ColumnType<Scalar, never, never>;
  num_images: number;
}

/** The contrast of a plate that its files say nothing about, so that it looks the same tomorrow. */
interface PlateContrastsTable {
  dataset_id: number;
  plate: string;
  /** Which of the plate's images it is of. */
  variant: string;
  limits: JsonText<[low: number, high: number][]>;
  /** From how many wells. */
  num_wells: number;
}

interface WorkflowTemplatesTable {
  id: Generated<number>;
  user_id: number;
  user_group_id: number | null;
  name: string;
  version: number;
  description: string | null;
  data: JsonText<unknown>;
  fractal_server_version: string;
  timestamp_created: Timestamp;
  timestamp_last_used: Timestamp;
}

interface WorkflowsTable {
  id: Generated<number>;
  name: string;
  description: string | null;
  project_id: number;
  template_id: number | null;
  is_starred: Generated<boolean>;
  timestamp_created: Timestamp;
}

interface WorkflowTasksTable extends Noted<'shell_changed' | 'task_chosen'> {
  id: Generated<number>;
  workflow_id: number;
  task_id: number;
  order: number;
  task_type: TaskType;
  meta_non_parallel: OptionalJsonText<JsonObject>;
  meta_parallel: OptionalJsonText<JsonObject>;
  args_non_parallel: OptionalJsonText<JsonObject>;
  args_parallel: OptionalJsonText<JsonObject>;
  type_filters: JsonTextWithDefault<Flags>;
  alias: string | null;
  description: string | null;
  revision: Generated<number>;
  timestamp_modified: Timestamp;
}

interface JobsTable {
  id: Generated<number>;
  project_id: number | null;
  workflow_id: number | null;
  dataset_id: number | null;
  user_id: number | null;
  user_email: string;
  slurm_account: string | null;
  worker_init: string | null;
  working_dir: string | null;
  working_dir_user: string | null;
  dataset_dump: JsonText<JsonObject>;
  workflow_dump: JsonText<JsonObject>;
  project_dump: JsonText<JsonObject>;
  fractal_server_version: string;
  first_task_index: number;
  last_task_index: number;
  start_timestamp: Timestamp;
  end_timestamp: string | null;
  status: Generated<JobStatus>;
  log: string | null;
  executor_error_log: string | null;
  attribute_filters: JsonTextWithDefault<Record<string, Scalar[]>>;
  type_filters: JsonTextWithDefault<Flags>;
  first_task_image_status: ImageStatus[] | null;
  stop_requested_at: string | null;
  stop_requested_by: string | null;
  timestamp_first_unit: string | null;
  failure: OptionalJsonText<JobFailure>;
  /** The tasks as they were when the job began; later edits do not touch a running job. */
  snapshot: OptionalJsonText<unknown>;
  /** Where the service keeps what it needs to run the job, outside the job's own folder. */
  service_folder: string | null;
  /** Counted up by each change, for those who watch. */
  change: Generated<number>;
}

/** The images of a job that filters on a status, as they were when it began, and those made of them. */
interface JobImagesTable {
  job_id: number;
  zarr_url: string;
}

interface HistoryRunsTable {
  id: Generated<number>;
  dataset_id: number;
  workflowtask_id: number | null;
  job_id: number;
  task_id: number | null;
  workflowtask_dump: JsonText<JsonObject>;
  task_group_dump: JsonText<JsonObject>;
  timestamp_started: Timestamp;
  status: JobStatus;
  num_available_images: number;
  /** The position of the task in the workflow as it ran; null where nobody recorded it. */
  task_index: number | null;
  timestamp_ended: string | null;
  /** When Python began to import for its units, where it does that once for many. */
  timestamp_imports: Generated<string | null>;
  /** Null where nobody counted: in runs that were imported. */
  num_new_images: Generated<number | null>;
  /** Why it failed. */
  failure: OptionalJsonText<Omit<JobFailure, 'workflowtask_id'>>;
  change: Generated<number>;
}

interface HistoryUnitsTable {
  id: Generated<number>;
  history_run_id: number;
  logfile: string;
  has_warnings: Generated<boolean>;
  status: JobStatus;
  zarr_urls: Generated<string[]>;
  /** Counted from 0 in its phase; the unit of an init phase has a phase of its own. */
  number: Generated<number>;
  is_init: Generated<boolean>;
  timestamp_started: string | null;
  timestamp_ended: string | null;
  exit_code: number | null;
  signal: number | null;
  cause: Cause | null;
  message: string | null;
  num_warnings: Generated<number>;
  cpu_seconds: number | null;
  peak_memory_bytes: number | null;
  memory_limit_bytes: number | null;
  scheduler_job_id: number | null;
  node: string | null;
  change: Generated<number>;
}

/** How many units of a run are how; kept by triggers. No cause is an empty text. */
interface HistoryUnitCountsTable {
  history_run_id: number;
  is_init: boolean;
  state: 'waiting' | 'running' | 'done' | 'failed';
  status: JobStatus;
  cause: Cause | '';
  has_warnings: boolean;
  num_units: number;
}

/** How many images of a task are how; kept by triggers. */
interface HistoryImageCountsTable {
  dataset_id: number;
  workflowtask_id: number;
  status: JobStatus;
  has_warnings: boolean;
  num_images: number;
}

interface HistoryImageCacheTable {
  dataset_id: number;
  workflowtask_id: number;
  zarr_url: string;
  latest_history_unit_id: number;
}

interface AccountingRecordsTable {
  id: Generated<number>;
  user_id: number;
  timestamp: Timestamp;
  num_tasks: number;
  num_new_images: number;
}

interface AccountingRecordsSlurmTable {
  id: Generated<number>;
  user_id: number;
  timestamp: Timestamp;
  slurm_job_ids: Generated<number[]>;
  fractal_job_id: number | null;
  resource_id: number | null;
  history_run_id: number | null;
  is_init: boolean | null;
}

interface TaskGroupActivitiesTable {
  id: Generated<number>;
  user_id: number;
  taskgroupv2_id: number | null;
  timestamp_started: Timestamp;
  timestamp_ended: string | null;
  pkg_name: string;
  version: string;
  status: ActivityStatus;
  action: ActivityAction;
  log: string | null;
  steps: JsonTextWithDefault<ActivityStep[]>;
  /** What the procedure needs to know beyond the task group, so that another process can go on with it. */
  request: JsonTextWithDefault<JsonObject>;
  fractal_server_version: string;
}

/** An import of an existing deployment, and what became of each row that had to change. */
type KeptOverview = Omit<ImportOverview, 'rules'> & { rules: Omit<FoundByRule, 'changes'>[] };

interface ImportsTable {
  id: Generated<number>;
  source_identity: string;
  source_database: string;
  revision: string;
  started: string;
  finished: string;
  report: JsonText<ImportReport>;
  /** Without most of the lines: of each rule the first ones. */
  overview: JsonText<KeptOverview>;
}

/** What an import found no place for, whole. Nothing of the service reads it. */
interface ImportRemaindersTable {
  id: Generated<number>;
  import_id: number;
  source_table: string;
  source_key: string;
  rule: string;
  content: JsonText<unknown>;
}

/** Work that survives a crash; whoever does it holds a lease that it keeps renewing. */
interface BackgroundWorkTable {
  id: Generated<number>;
  kind: string;
  subject_id: number;
  timestamp_created: Timestamp;
  attempts: Generated<number>;
  leased_by: string | null;
  leased_until: string | null;
  /** The process that works for it right now, so that a left-over one can be ended. */
  process: OptionalJsonText<{ pid: number; started: string }>;
}

/** Names people and things as they were; nothing of it goes when they go. */
interface AuditLogTable {
  id: Generated<number>;
  timestamp: Timestamp;
  /** Who did it; null for whoever operates the service. */
  user_id: number | null;
  user_email: string | null;
  /** As whom, where it was somebody else. */
  as_user_id: number | null;
  as_user_email: string | null;
  via: AuditVia;
  address: string;
  action: AuditAction;
  object_type: AuditObject;
  object_id: number;
  object_name: string;
  details: JsonTextWithDefault<JsonObject>;
  /** Computed by the database, to be searched. */
  words: ColumnType<string, never, never>;
}

export interface Tables {
  resources: ResourcesTable;
  profiles: ProfilesTable;
  users: UsersTable;
  personal_tokens: PersonalTokensTable;
  oauth_accounts: OAuthAccountsTable;
  user_groups: UserGroupsTable;
  group_members: GroupMembersTable;
  task_groups: TaskGroupsTable;
  tasks: TasksTable;
  projects: ProjectsTable;
  project_guests: ProjectGuestsTable;
  project_links: ProjectLinksView;
  datasets: DatasetsTable;
  images: ImagesTable;
  image_facets: ImageFacetsTable;
  plate_contrasts: PlateContrastsTable;
  workflow_templates: WorkflowTemplatesTable;
  workflows: WorkflowsTable;
  workflow_tasks: WorkflowTasksTable;
  jobs: JobsTable;
  history_runs: HistoryRunsTable;
  history_units: HistoryUnitsTable;
  history_image_cache: HistoryImageCacheTable;
  history_unit_counts: HistoryUnitCountsTable;
  history_image_counts: HistoryImageCountsTable;
  job_images: JobImagesTable;
  accounting_records: AccountingRecordsTable;
  accounting_records_slurm: AccountingRecordsSlurmTable;
  task_group_activities: TaskGroupActivitiesTable;
  background_work: BackgroundWorkTable;
  audit_log: AuditLogTable;
  imports: ImportsTable;
  import_remainders: ImportRemaindersTable;
}
