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

import { brokenConstraint, type Database } from '../db/index.ts';
import { refuse } from '../http/index.ts';
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
      throw refuse(422, 'Projects still use this resource. It can go when they are deleted.');
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

export async function createResource(db: Database, resource: ResourceWrite, backend: ResourceType): Promise<Resource> {
  checkBackend(resource, backend);
  return explained(store.insertResource(db, resource));
}

export async function replaceResource(
  db: Database,
  id: number,
  resource: ResourceWrite,
  backend: ResourceType,
): Promise<Resource> {
  checkBackend(resource, backend);
  const before = await readResource(db, id);
  if (before.type !== resource.type) {
    throw refuse(422, `This is a "${before.type}" resource. Create a new one for "${resource.type}".`);
  }
  const after = await explained(store.updateResource(db, id, resource));
  if (!after) throw refuse(404, NO_RESOURCE);
  return after;
}

export async function deleteResource(db: Database, id: number): Promise<void> {
  if (!(await explained(store.deleteResource(db, id)))) throw refuse(404, NO_RESOURCE);
}

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

export async function createProfile(db: Database, resourceId: number, profile: ProfileWrite): Promise<Profile> {
  checkType(profile, await readResource(db, resourceId));
  return explained(store.insertProfile(db, resourceId, profile));
}

export async function replaceProfile(db: Database, id: number, profile: ProfileWrite): Promise<Profile> {
  const before = await readProfile(db, id);
  checkType(profile, await readResource(db, before.resource_id));
  const after = await explained(store.updateProfile(db, id, profile));
  if (!after) throw refuse(404, NO_PROFILE);
  return after;
}

export async function deleteProfile(db: Database, id: number): Promise<void> {
  if (!(await explained(store.deleteProfile(db, id)))) throw refuse(404, NO_PROFILE);
}

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
