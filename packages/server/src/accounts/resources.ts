/** What can be done with resources and profiles. */
import {
  type Profile,
  ProfileWrite,
  readValue,
  type Resource,
  type ResourceType,
  ResourceWrite,
  type User,
} from '@service/contract';

import { changes, ifChanged, record } from '../audit/index.ts';
import { brokenConstraint, type Database } from '../db/index.ts';
import { type Origin, refuse } from '../http/index.ts';
import * as store from './store/resources.ts';

const NO_RESOURCE = 'There is no resource with this id.';
const NO_PROFILE = 'There is no profile with this id.';

/** Runs a change and says in words which rule of the database refused it. */
async function explained<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const constraint = brokenConstraint(error);
    if (constraint === 'resources_name_unique')
      throw refuse(422, 'There is a resource with this name. Choose another.');
    if (constraint === 'profiles_name_unique') throw refuse(422, 'There is a profile with this name. Choose another.');
    if (constraint === 'profiles_resource') throw refuse(422, 'Profiles still use this resource. Delete them first.');
    if (constraint === 'users_profile')
      throw refuse(422, 'Users still have this profile. Give them another one first.');
    if (constraint === 'projects_resource')
      throw refuse(422, 'Projects still use this resource. It can be deleted when they are.');
    if (constraint === 'task_groups_resource')
      throw refuse(422, 'Task groups are still installed on this resource. Delete them first.');
    throw error;
  }
}

function checkBackend(resource: ResourceWrite, backend: ResourceType): void {
  if (resource.type === backend) return;
  throw refuse(422, `This service runs jobs on "${backend}" resources; "${resource.type}" is not possible here.`);
}

export async function readResource(db: Database, id: number): Promise<Resource> {
  const resource = await store.findResource(db, id);
  if (!resource) throw refuse(404, NO_RESOURCE);
  return resource;
}

export async function createResource(
  db: Database,
  by: Origin,
  resource: ResourceWrite,
  backend: ResourceType,
): Promise<Resource> {
  checkBackend(resource, backend);
  return explained(
    db.transaction().execute(async (trx) => {
      const made = await store.insertResource(trx, resource);
      const details = { type: made.type, host: made.host };
      await record(trx, by, { action: 'resource.create', object: ['resource', made.id, made.name], details });
      return made;
    }),
  );
}

/** Both sides of a change are whole objects, so that every field of the wider one is compared. */
const allFields = <T extends object>(object: T) => Object.keys(object) as (keyof T & string)[];

export async function replaceResource(
  db: Database,
  by: Origin,
  id: number,
  resource: ResourceWrite,
  backend: ResourceType,
): Promise<Resource> {
  checkBackend(resource, backend);
  return explained(
    db.transaction().execute(async (trx) => {
      const before = await store.holdResource(trx, id);
      if (!before) throw refuse(404, NO_RESOURCE);
      if (before.type !== resource.type) {
        throw refuse(422, `This is a "${before.type}" resource. Create a new one for "${resource.type}".`);
      }
      const after = (await store.updateResource(trx, id, resource))!;
      const details = changes(before, after, allFields(after));
      await record(trx, by, ifChanged('resource.update', ['resource', id, before.name], details));
      return after;
    }),
  );
}

export const deleteResource = (db: Database, by: Origin, id: number): Promise<void> =>
  explained(
    db.transaction().execute(async (trx) => {
      const deleted = await store.deleteResource(trx, id);
      if (!deleted) throw refuse(404, NO_RESOURCE);
      await record(trx, by, { action: 'resource.delete', object: ['resource', id, deleted.name] });
    }),
  );

export async function profilesOf(db: Database, resourceId: number): Promise<Profile[]> {
  await readResource(db, resourceId);
  return store.listProfilesOf(db, resourceId);
}

export async function readProfile(db: Database, id: number): Promise<Profile> {
  const profile = await store.findProfile(db, id);
  if (!profile) throw refuse(404, NO_PROFILE);
  return profile;
}

function checkType(profile: ProfileWrite, resource: Resource): void {
  if (profile.resource_type === resource.type) return;
  throw refuse(422, `The resource is of type "${resource.type}", so resource_type must be "${resource.type}" too.`);
}

export async function createProfile(
  db: Database,
  by: Origin,
  resourceId: number,
  profile: ProfileWrite,
): Promise<Profile> {
  const resource = await readResource(db, resourceId);
  checkType(profile, resource);
  return explained(
    db.transaction().execute(async (trx) => {
      const made = await store.insertProfile(trx, resourceId, profile);
      const details = { resource: resource.name, username: made.username };
      await record(trx, by, { action: 'profile.create', object: ['profile', made.id, made.name], details });
      return made;
    }),
  );
}

export async function replaceProfile(db: Database, by: Origin, id: number, profile: ProfileWrite): Promise<Profile> {
  const { resource_id } = await readProfile(db, id);
  checkType(profile, await readResource(db, resource_id));
  return explained(
    db.transaction().execute(async (trx) => {
      const before = await store.holdProfile(trx, id);
      if (!before) throw refuse(404, NO_PROFILE);
      const after = (await store.updateProfile(trx, id, profile))!;
      const details = changes(before, after, allFields(after));
      await record(trx, by, ifChanged('profile.update', ['profile', id, before.name], details));
      return after;
    }),
  );
}

export const deleteProfile = (db: Database, by: Origin, id: number): Promise<void> =>
  explained(
    db.transaction().execute(async (trx) => {
      const deleted = await store.deleteProfile(trx, id);
      if (!deleted) throw refuse(404, NO_PROFILE);
      await record(trx, by, { action: 'profile.delete', object: ['profile', id, deleted.name] });
    }),
  );

/** Refuses or accepts new jobs on every resource, and says how many there are. */
export const preventSubmissions = (db: Database, by: Origin, prevent: boolean): Promise<number> =>
  db.transaction().execute(async (trx) => {
    const changed = await store.preventSubmissions(trx, prevent);
    const details = { prevent_new_submissions: { from: !prevent, to: prevent } };
    await record(
      trx,
      by,
      changed.map(({ id, name }) => ({ action: 'resource.update', object: ['resource', id, name], details })),
    );
    return store.countResources(trx);
  });

/** The fields of a stored object that today's rules refuse. */
function wrongFields(outcome: ReturnType<typeof readValue>): string[] {
  return 'entries' in outcome ? outcome.entries.map(({ loc }) => loc.slice(2).join('.')) : [];
}

/**
 * Where a person works, judged again with the rules of today: a row may be older than they are. Whatever is going to
 * run something begins with this.
 */
export async function usableProfile(db: Database, user: User): Promise<{ profile: Profile; resource: Resource }> {
  const profile = user.profile_id === null ? undefined : await store.findProfile(db, user.profile_id);
  const resource = profile && (await store.findResource(db, profile.resource_id));
  if (!profile || !resource) {
    throw refuse(422, 'Your account has no computational profile. Ask an administrator to give you one.');
  }
  const ask = 'Ask an administrator to correct it.';
  const ofResource = wrongFields(readValue(ResourceWrite, resource, 'resource'));
  if (ofResource.length > 0) {
    throw refuse(422, `Your resource "${resource.name}" is not usable (${ofResource.join(', ')}). ${ask}`);
  }
  const ofProfile = wrongFields(readValue(ProfileWrite, profile, 'profile'));
  if (profile.resource_type !== resource.type) ofProfile.push('resource_type');
  if (ofProfile.length > 0) {
    throw refuse(422, `Your profile "${profile.name}" is not usable (${ofProfile.join(', ')}). ${ask}`);
  }
  return { profile, resource };
}
