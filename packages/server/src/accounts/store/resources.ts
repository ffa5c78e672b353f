/** The SQL of resources and profiles. */
import type { Insertable, Transaction, Updateable } from 'kysely';

import type { Profile, ProfileWrite, Resource, ResourceWrite } from '@service/contract';

import { type Database, type ResourcesTable, type Tables, zulu } from '../../db/index.ts';

type Executor = Database | Transaction<Tables>;

const RESOURCE_COLUMNS = [
  'id',
  'name',
  'type',
  'prevent_new_submissions',
  'timestamp_created',
  'host',
  'jobs_local_dir',
  'jobs_runner_config',
  'jobs_slurm_python_worker',
  'jobs_poll_interval',
  'tasks_local_dir',
  'tasks_python_config',
  'tasks_pixi_config',
] as const;

const PROFILE_COLUMNS = [
  'id',
  'name',
  'resource_id',
  'resource_type',
  'username',
  'ssh_key_path',
  'jobs_remote_dir',
  'tasks_remote_dir',
  'pixi_cache_dir',
] as const;

const shown = (row: Resource): Resource => ({ ...row, timestamp_created: zulu(row.timestamp_created) });

/** The columns of a validated resource; configuration goes in as JSON text. */
function resourceRow(resource: ResourceWrite): Insertable<ResourcesTable> & Updateable<ResourcesTable> {
  return {
    ...resource,
    jobs_runner_config: JSON.stringify(resource.jobs_runner_config),
    tasks_python_config: JSON.stringify(resource.tasks_python_config),
    tasks_pixi_config: JSON.stringify(resource.tasks_pixi_config),
  };
}

export async function listResources(db: Database): Promise<Resource[]> {
  return (await db.selectFrom('resources').select(RESOURCE_COLUMNS).orderBy('id').execute()).map(shown);
}

export async function findResource(db: Executor, id: number): Promise<Resource | undefined> {
  const row = await db.selectFrom('resources').select(RESOURCE_COLUMNS).where('id', '=', id).executeTakeFirst();
  return row && shown(row);
}

/** The same, locked until the transaction ends. */
export async function holdResource(db: Transaction<Tables>, id: number): Promise<Resource | undefined> {
  const query = db.selectFrom('resources').select(RESOURCE_COLUMNS).where('id', '=', id).forUpdate();
  const row = await query.executeTakeFirst();
  return row && shown(row);
}

export async function insertResource(db: Executor, resource: ResourceWrite): Promise<Resource> {
  const query = db.insertInto('resources').values(resourceRow(resource)).returning(RESOURCE_COLUMNS);
  return shown(await query.executeTakeFirstOrThrow());
}

export async function updateResource(db: Executor, id: number, resource: ResourceWrite): Promise<Resource | undefined> {
  const query = db.updateTable('resources').set(resourceRow(resource)).where('id', '=', id).returning(RESOURCE_COLUMNS);
  const row = await query.executeTakeFirst();
  return row && shown(row);
}

/** Sets the flag on all resources, and gives back those that had the other one. */
export const preventSubmissions = (db: Executor, prevent: boolean) =>
  db
    .updateTable('resources')
    .set({ prevent_new_submissions: prevent })
    .where('prevent_new_submissions', '<>', prevent)
    .returning(['id', 'name'])
    .execute();

/** What there was, or nothing. */
export const deleteResource = (db: Executor, id: number) =>
  db.deleteFrom('resources').where('id', '=', id).returning('name').executeTakeFirst();

export const listProfiles = (db: Database): Promise<Profile[]> =>
  db.selectFrom('profiles').select(PROFILE_COLUMNS).orderBy('id').execute();

export const listProfilesOf = (db: Database, resourceId: number): Promise<Profile[]> =>
  db.selectFrom('profiles').select(PROFILE_COLUMNS).where('resource_id', '=', resourceId).orderBy('id').execute();

export const findProfile = (db: Executor, id: number): Promise<Profile | undefined> =>
  db.selectFrom('profiles').select(PROFILE_COLUMNS).where('id', '=', id).executeTakeFirst();

/** The same, locked until the transaction ends. */
export const holdProfile = (db: Transaction<Tables>, id: number): Promise<Profile | undefined> =>
  db.selectFrom('profiles').select(PROFILE_COLUMNS).where('id', '=', id).forUpdate().executeTakeFirst();

/** As whom a person works. */
export const findProfileOf = (db: Executor, userId: number): Promise<Profile | undefined> =>
  db
    .selectFrom('profiles')
    .select(PROFILE_COLUMNS)
    .where('id', '=', (eb) => eb.selectFrom('users').select('profile_id').where('users.id', '=', userId))
    .executeTakeFirst();

export const insertProfile = (db: Executor, resourceId: number, profile: ProfileWrite): Promise<Profile> =>
  db
    .insertInto('profiles')
    .values({ ...profile, resource_id: resourceId })
    .returning(PROFILE_COLUMNS)
    .executeTakeFirstOrThrow();

export const updateProfile = (db: Executor, id: number, profile: ProfileWrite): Promise<Profile | undefined> =>
  db.updateTable('profiles').set(profile).where('id', '=', id).returning(PROFILE_COLUMNS).executeTakeFirst();

/** What there was, or nothing. */
export const deleteProfile = (db: Executor, id: number) =>
  db.deleteFrom('profiles').where('id', '=', id).returning('name').executeTakeFirst();

/** Gives everybody the first profile; those who had none. */
export const giveProfileToAll = (db: Executor, profileId: number) =>
  db.updateTable('users').set({ profile_id: profileId }).returning(['id', 'email']).execute();

export async function countResources(db: Executor): Promise<number> {
  const { count } = await db
    .selectFrom('resources')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

export async function knownResourceIds(db: Executor, ids: number[]): Promise<number[]> {
  const rows = await db.selectFrom('resources').select('id').where('id', 'in', ids).execute();
  return rows.map((row) => row.id);
}
