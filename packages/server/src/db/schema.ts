/** The tables as TypeScript sees them. The migrations make them; the two must agree. */
import type { Generated, JSONColumnType } from 'kysely';

import type { ResourceType } from '@service/contract';

/** A moment as text, in UTC with microseconds: `2026-01-31T12:00:00.123456+00:00`. */
type Timestamp = Generated<string>;
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

export interface Tables {
  resources: ResourcesTable;
  profiles: ProfilesTable;
  users: UsersTable;
  oauth_accounts: OAuthAccountsTable;
  user_groups: UserGroupsTable;
  group_members: GroupMembersTable;
}
