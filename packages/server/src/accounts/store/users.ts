/** The SQL of people. */
import { type ExpressionBuilder, sql, type Transaction, type Updateable } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';

import type { User, UserCreate } from '@service/contract';

import type { Database, OpenDatabase, Tables, UsersTable } from '../../db/index.ts';

type Executor = Database | Transaction<Tables>;

/** Any number that no other lock uses: held while the last administrator might be lost. */
const ADMINISTRATORS_LOCK = 7_310_201;
const LARGEST_ID = 2_147_483_647;

const oauthAccounts = (eb: ExpressionBuilder<Tables, 'users'>) =>
  jsonArrayFrom(
    eb
      .selectFrom('oauth_accounts')
      .select(['oauth_accounts.id', 'oauth_accounts.account_email', 'oauth_accounts.oauth_name'])
      .whereRef('oauth_accounts.user_id', '=', 'users.id')
      .orderBy('oauth_accounts.id'),
  ).as('oauth_accounts');

const USER_COLUMNS = [
  'users.id',
  'users.email',
  'users.is_active',
  'users.is_superuser',
  'users.is_verified',
  'users.is_guest',
  'users.profile_id',
  'users.project_dirs',
  'users.slurm_accounts',
] as const;

const selectUsers = (db: Executor) => db.selectFrom('users').select(USER_COLUMNS).select(oauthAccounts);

export type UserRow = Omit<User, 'group_ids_names'>;

/** An account as the wire shows it, its keys in the usual order. */
export function userObject(row: UserRow, groups: User['group_ids_names']): User {
  return {
    id: row.id,
    email: row.email,
    is_active: row.is_active,
    is_superuser: row.is_superuser,
    is_verified: row.is_verified,
    is_guest: row.is_guest,
    group_ids_names: groups,
    oauth_accounts: row.oauth_accounts,
    profile_id: row.profile_id,
    project_dirs: row.project_dirs,
    slurm_accounts: row.slurm_accounts,
  };
}

/** The groups of an account: the default one first, then in the order of joining. */
async function groupsOf(db: Executor, userId: number, defaultGroup: string | null): Promise<[number, string][]> {
  const rows = await db
    .selectFrom('group_members')
    .innerJoin('user_groups', 'user_groups.id', 'group_members.group_id')
    .select(['user_groups.id', 'user_groups.name'])
    .where('group_members.user_id', '=', userId)
    .orderBy(sql`user_groups.name is not distinct from ${defaultGroup}`, 'desc')
    .orderBy('group_members.timestamp_joined')
    .orderBy('user_groups.id')
    .execute();
  return rows.map(({ id, name }) => [id, name]);
}

/** The columns of an account, for statements that run in every request: plain SQL, planned once a connection. */
export const PLAIN_COLUMNS = `users.id, email, is_active, is_superuser, is_verified, is_guest, profile_id, project_dirs,
  slurm_accounts, token_generation,
  (select coalesce(json_agg(json_build_object('id', o.id, 'account_email', o.account_email, 'oauth_name', o.oauth_name)
     order by o.id), '[]') from oauth_accounts o where o.user_id = users.id) as oauth_accounts`;

const ACTIVE_USERS = {
  name: 'active-users',
  text: `select ${PLAIN_COLUMNS} from users where id = any($1::int[]) and is_active`,
};

export type Pool = Pick<OpenDatabase['pool'], 'query'>;

/** The account of a session, with its counter. */
export interface ActiveUser {
  user: User;
  generation: number;
}

export async function findActiveUsers(pool: Pool, userIds: number[]): Promise<Map<number, ActiveUser>> {
  const values = [userIds.filter((id) => id <= LARGEST_ID)];
  const { rows } = await pool.query<UserRow & { token_generation: number }>({ ...ACTIVE_USERS, values });
  return new Map(rows.map((row) => [row.id, { user: userObject(row, null), generation: row.token_generation }]));
}

export async function findUser(db: Executor, userId: number): Promise<User | undefined> {
  const row = await selectUsers(db).where('users.id', '=', userId).executeTakeFirst();
  return row && userObject(row, null);
}

export async function withGroups(db: Executor, user: User, defaultGroup: string | null): Promise<User> {
  return { ...user, group_ids_names: await groupsOf(db, user.id, defaultGroup) };
}

/** Locks the account until the transaction ends. */
export async function lockUser(db: Transaction<Tables>, userId: number): Promise<boolean> {
  const row = await db.selectFrom('users').select('id').where('id', '=', userId).forUpdate().executeTakeFirst();
  return row !== undefined;
}

export async function listUsers(db: Database, filter: { profile_id?: number; resource_id?: number }): Promise<User[]> {
  let query = selectUsers(db).orderBy('users.id');
  if (filter.profile_id !== undefined) query = query.where('users.profile_id', '=', filter.profile_id);
  if (filter.resource_id !== undefined) {
    query = query.where('users.profile_id', 'in', (eb) =>
      eb.selectFrom('profiles').select('profiles.id').where('profiles.resource_id', '=', filter.resource_id!),
    );
  }
  return (await query.execute()).map((row) => userObject(row, null));
}

export interface Credentials {
  id: number;
  email: string;
  is_active: boolean;
  hashed_password: string;
  token_generation: number;
}

export const findCredentials = (db: Executor, email: string): Promise<Credentials | undefined> =>
  db
    .selectFrom('users')
    .select(['id', 'email', 'is_active', 'hashed_password', 'token_generation'])
    .where(sql<string>`lower(email)`, '=', sql<string>`lower(${email})`)
    .executeTakeFirst();

type NewUser = Pick<UserCreate, 'email' | 'project_dirs' | 'slurm_accounts' | 'profile_id' | 'is_guest'> & {
  hashed_password: string;
  is_superuser?: boolean;
  is_verified?: boolean;
};

/** Creates an account and lets it join the default group, if there is one. */
export async function insertUser(db: Transaction<Tables>, user: NewUser, defaultGroup: string | null): Promise<number> {
  const { id } = await db.insertInto('users').values(user).returning('id').executeTakeFirstOrThrow();
  if (defaultGroup !== null) {
    await db
      .insertInto('group_members')
      .columns(['group_id', 'user_id'])
      .expression((eb) =>
        eb
          .selectFrom('user_groups')
          .select(['user_groups.id', eb.val(id).as('user_id')])
          .where('name', '=', defaultGroup),
      )
      .execute();
  }
  return id;
}

export async function updateUser(db: Executor, userId: number, changes: Updateable<UsersTable>): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  await db.updateTable('users').set(changes).where('id', '=', userId).execute();
}

/** Stores a better hash of the same password, unless the password has changed meanwhile. */
export async function improveHash(db: Database, { id, hashed_password }: Credentials, better: string): Promise<void> {
  await db
    .updateTable('users')
    .set({ hashed_password: better })
    .where('id', '=', id)
    .where('hashed_password', '=', hashed_password)
    .execute();
}

/** The counter that new sessions of an account carry. */
export async function generationOf(db: Executor, userId: number): Promise<number | undefined> {
  const row = await db.selectFrom('users').select('token_generation').where('id', '=', userId).executeTakeFirst();
  return row?.token_generation;
}

/** Ends all sessions of an account that were begun before. Gives back the counter for new ones. */
export async function raiseGeneration(db: Executor, userId: number): Promise<number | undefined> {
  const row = await db
    .updateTable('users')
    .set((eb) => ({ token_generation: eb('token_generation', '+', 1) }))
    .where('id', '=', userId)
    .returning('token_generation')
    .executeTakeFirst();
  return row?.token_generation;
}

/** Lets one change at a time touch the set of administrators. */
export async function lockAdministrators(db: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${ADMINISTRATORS_LOCK})`.execute(db);
}

export async function otherAdministratorExists(db: Executor, userId: number): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('is_superuser', '=', true)
    .where('is_active', '=', true)
    .where('id', '<>', userId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function superuserExists(db: Executor): Promise<boolean> {
  const row = await db.selectFrom('users').select('id').where('is_superuser', '=', true).limit(1).executeTakeFirst();
  return row !== undefined;
}

/** An active administrator: the one with this e-mail address, else the first. */
export async function findAdministrator(db: Executor, email: string): Promise<User | undefined> {
  const row = await selectUsers(db)
    .where('users.is_superuser', '=', true)
    .where('users.is_active', '=', true)
    .orderBy(sql`lower(users.email) = lower(${email})`, 'desc')
    .orderBy('users.id')
    .limit(1)
    .executeTakeFirst();
  return row && userObject(row, null);
}

/** Replaces the groups of an account; memberships that stay keep the time of joining. */
export async function replaceGroups(db: Transaction<Tables>, userId: number, groupIds: number[]): Promise<void> {
  await db.deleteFrom('group_members').where('user_id', '=', userId).where('group_id', 'not in', groupIds).execute();
  await db
    .insertInto('group_members')
    .values(groupIds.map((group_id) => ({ group_id, user_id: userId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function profileInfo(db: Database, userId: number) {
  return db
    .selectFrom('users')
    .innerJoin('profiles', 'profiles.id', 'users.profile_id')
    .innerJoin('resources', 'resources.id', 'profiles.resource_id')
    .select([
      'resources.name as resource_name',
      'profiles.name as profile_name',
      'profiles.username',
      'resources.id as resource_id',
      'resources.type as resource_type',
      'resources.prevent_new_submissions',
      'resources.tasks_python_config',
      'resources.tasks_pixi_config',
    ])
    .where('users.id', '=', userId)
    .executeTakeFirst();
}

/** Where the datasets of a person's projects lie, owned or shared and accepted. */
export async function zarrDirsOf(db: Executor, userId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('project_links as link')
    .innerJoin('datasets', 'datasets.project_id', 'link.project_id')
    .select('datasets.zarr_dir')
    .distinct()
    .where('link.user_id', '=', userId)
    .where('link.is_verified', '=', true)
    .orderBy('datasets.zarr_dir')
    .execute();
  return rows.map((row) => row.zarr_dir);
}

/** The same folders, each with the project folder that it was made in, where that is known. */
export const zarrDirsWithRoots = (db: Executor, userId: number): Promise<{ path: string; root: string | null }[]> =>
  db
    .selectFrom('project_links as link')
    .innerJoin('datasets', 'datasets.project_id', 'link.project_id')
    .select(['datasets.zarr_dir as path', 'datasets.project_dir as root'])
    .distinct()
    .where('link.user_id', '=', userId)
    .where('link.is_verified', '=', true)
    .execute();

interface TimeBounds {
  start_timestamp_min?: string | undefined;
  start_timestamp_max?: string | undefined;
}

/** How many jobs each account started. Jobs of imported deployments know their person by the address only. */
const jobCounts = (db: Database, bounds: TimeBounds) =>
  db
    .selectFrom('jobs')
    .leftJoin('users as starter', (join) =>
      join.onRef('starter.email', '=', 'jobs.user_email').on('jobs.user_id', 'is', null),
    )
    .select((eb) => [
      eb.fn.coalesce('jobs.user_id', 'starter.id').as('user_id'),
      eb.fn.countAll<number>().as('num_jobs'),
    ])
    .$if(bounds.start_timestamp_min !== undefined, (query) =>
      query.where('jobs.start_timestamp', '>=', bounds.start_timestamp_min!),
    )
    .$if(bounds.start_timestamp_max !== undefined, (query) =>
      query.where('jobs.start_timestamp', '<=', bounds.start_timestamp_max!),
    )
    .groupBy((eb) => eb.fn.coalesce('jobs.user_id', 'starter.id'));

/** Accounts with a profile, for the CSV list. */
export async function usersWithProfile(db: Database, bounds: TimeBounds) {
  return db
    .selectFrom('users')
    .innerJoin('profiles', 'profiles.id', 'users.profile_id')
    .leftJoin(jobCounts(db, bounds).as('counted'), 'counted.user_id', 'users.id')
    .select((eb) => [
      'users.id',
      eb.fn.coalesce('counted.num_jobs', sql<number>`0`).as('num_jobs'),
      'users.email',
      'profiles.username as slurm_username',
      'users.slurm_accounts',
      'users.project_dirs',
      eb
        .selectFrom('group_members')
        .innerJoin('user_groups', 'user_groups.id', 'group_members.group_id')
        .select(sql<string[]>`coalesce(array_agg(user_groups.name order by user_groups.id), '{}')`.as('names'))
        .whereRef('group_members.user_id', '=', 'users.id')
        .as('user_groups'),
    ])
    .orderBy('users.email')
    .execute();
}
