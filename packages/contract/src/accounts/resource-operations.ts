/** The operations of administrators on resources and profiles. */
import { z } from 'zod';

import { operation } from '../operation.ts';
import { id } from '../wire/scalars.ts';
import { Profile, ProfileWrite } from './profile.ts';
import { Resource, ResourceWrite } from './resource.ts';

const resourceId = z.object({ resource_id: id() });
const profileId = z.object({ profile_id: id() });
const UNKNOWN = { 404: 'There is no such object.' };

export const listResources = operation({
  id: 'list_resources',
  method: 'GET',
  path: '/admin/v2/resource/',
  access: 'superuser',
  tag: 'resources',
  summary: 'All resources',
  answer: [200, z.array(Resource)],
});

export const createResource = operation({
  id: 'create_resource',
  method: 'POST',
  path: '/admin/v2/resource/',
  access: 'superuser',
  tag: 'resources',
  summary: 'Creates a resource',
  body: ResourceWrite,
  answer: [201, Resource],
});

export const getResource = operation({
  id: 'get_resource',
  method: 'GET',
  path: '/admin/v2/resource/{resource_id}/',
  access: 'superuser',
  tag: 'resources',
  summary: 'One resource',
  params: resourceId,
  answer: [200, Resource],
  refusals: UNKNOWN,
});

export const replaceResource = operation({
  id: 'replace_resource',
  method: 'PUT',
  path: '/admin/v2/resource/{resource_id}/',
  access: 'superuser',
  tag: 'resources',
  summary: 'Replaces a resource; what is left out returns to its default',
  params: resourceId,
  body: ResourceWrite,
  answer: [200, Resource],
  refusals: UNKNOWN,
});

export const deleteResource = operation({
  id: 'delete_resource',
  method: 'DELETE',
  path: '/admin/v2/resource/{resource_id}/',
  access: 'superuser',
  tag: 'resources',
  summary: 'Deletes a resource that nothing refers to',
  params: resourceId,
  answer: [204],
  refusals: UNKNOWN,
});

export const listResourceProfiles = operation({
  id: 'list_resource_profiles',
  method: 'GET',
  path: '/admin/v2/resource/{resource_id}/profile/',
  access: 'superuser',
  tag: 'profiles',
  summary: 'The profiles of a resource',
  params: resourceId,
  answer: [200, z.array(Profile)],
  refusals: UNKNOWN,
});

export const createProfile = operation({
  id: 'create_profile',
  method: 'POST',
  path: '/admin/v2/resource/{resource_id}/profile/',
  access: 'superuser',
  tag: 'profiles',
  summary: 'Creates a profile of a resource',
  params: resourceId,
  body: ProfileWrite,
  answer: [201, Profile],
  refusals: UNKNOWN,
});

export const listProfiles = operation({
  id: 'list_profiles',
  method: 'GET',
  path: '/admin/v2/profile/',
  access: 'superuser',
  tag: 'profiles',
  summary: 'All profiles',
  answer: [200, z.array(Profile)],
});

export const getProfile = operation({
  id: 'get_profile',
  method: 'GET',
  path: '/admin/v2/profile/{profile_id}/',
  access: 'superuser',
  tag: 'profiles',
  summary: 'One profile',
  params: profileId,
  answer: [200, Profile],
  refusals: UNKNOWN,
});

export const replaceProfile = operation({
  id: 'replace_profile',
  method: 'PUT',
  path: '/admin/v2/profile/{profile_id}/',
  access: 'superuser',
  tag: 'profiles',
  summary: 'Replaces a profile',
  params: profileId,
  body: ProfileWrite,
  answer: [200, Profile],
  refusals: UNKNOWN,
});

export const deleteProfile = operation({
  id: 'delete_profile',
  method: 'DELETE',
  path: '/admin/v2/profile/{profile_id}/',
  access: 'superuser',
  tag: 'profiles',
  summary: 'Deletes a profile that no account has',
  params: profileId,
  answer: [204],
  refusals: UNKNOWN,
});
