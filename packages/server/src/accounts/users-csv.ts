/** The list of accounts for spreadsheets. */
import { csvOf } from '@service/contract';

import type { Database } from '../db/index.ts';
import { usersWithProfile } from './store/users.ts';

const COLUMNS = ['id', 'email', 'slurm_username', 'slurm_accounts', 'project_dirs', 'user_groups', 'num_jobs'] as const;

interface Options {
  exclude_zero_jobs: boolean;
  start_timestamp_min?: string | undefined;
  start_timestamp_max?: string | undefined;
}

export async function usersCsv(db: Database, { exclude_zero_jobs, ...bounds }: Options): Promise<string> {
  const users = await usersWithProfile(db, bounds);
  const rows = users.map((user) => ({
    id: user.id,
    email: user.email,
    slurm_username: user.slurm_username,
    slurm_accounts: user.slurm_accounts.join('|'),
    project_dirs: user.project_dirs.join('|'),
    user_groups: (user.user_groups ?? []).join('|'),
    num_jobs: user.num_jobs,
  }));
  const kept = rows.filter((row) => !exclude_zero_jobs || row.num_jobs > 0);
  return csvOf(
    COLUMNS,
    kept.map((row) => COLUMNS.map((column) => row[column])),
  );
}
