/** The operations on projects and on who shares them. */
import { z } from 'zod';

import { operation } from '../operation.ts';
import { pageOf, pageQuery } from '../pagination.ts';
import { email } from '../wire/email.ts';
import { answer, boolean, id, integer, text } from '../wire/scalars.ts';
import {
  GuestPermissions,
  Project,
  ProjectAccess,
  ProjectAdmin,
  ProjectCreate,
  ProjectGuest,
  ProjectInList,
  ProjectInvitation,
  ProjectLink,
  ProjectUpdate,
} from './project.ts';

const projectId = z.object({ project_id: id() });
const guestEmail = z.object({ email: email() });
const UNKNOWN = { 404: 'There is no such object.' };
const path = '/api/v2/project/{project_id}/';

export const listProjects = operation({
  id: 'list_projects',
  method: 'GET',
  path: '/api/v2/project/',
  access: 'reader',
  tag: 'projects',
  summary: 'Your projects, or those shared with you',
  query: z.object({ is_owner: boolean().default(true) }),
  answer: [200, z.array(ProjectInList)],
});

export const createProject = operation({
  id: 'create_project',
  method: 'POST',
  path: '/api/v2/project/',
  access: 'member',
  tag: 'projects',
  summary: 'Creates a project',
  body: ProjectCreate,
  answer: [201, Project],
});

export const getProject = operation({
  id: 'get_project',
  method: 'GET',
  path,
  access: 'reader',
  tag: 'projects',
  summary: 'One project',
  params: projectId,
  answer: [200, Project],
  refusals: UNKNOWN,
});

export const updateProject = operation({
  id: 'update_project',
  method: 'PATCH',
  path,
  access: 'member',
  tag: 'projects',
  summary: 'Renames or describes a project',
  params: projectId,
  body: ProjectUpdate,
  answer: [200, Project],
  refusals: UNKNOWN,
});

export const deleteProject = operation({
  id: 'delete_project',
  method: 'DELETE',
  path,
  access: 'member',
  tag: 'projects',
  summary: 'Deletes a project with its datasets and workflows; files stay',
  params: projectId,
  answer: [204],
  refusals: UNKNOWN,
});

const star = (what: 'star' | 'unstar') =>
  operation({
    id: `${what}_project`,
    method: 'POST',
    path: `${path}${what}/`,
    access: 'member',
    tag: 'projects',
    summary: what === 'star' ? 'Stars a project for everybody in it' : 'Removes the star',
    params: projectId,
    answer: [200],
    refusals: UNKNOWN,
  });
export const starProject = star('star');
export const unstarProject = star('unstar');

export const listGuests = operation({
  id: 'list_project_guests',
  method: 'GET',
  path: `${path}guest/`,
  access: 'reader',
  tag: 'sharing',
  summary: 'Whom you share your project with',
  params: projectId,
  answer: [200, z.array(ProjectGuest)],
});

export const inviteGuest = operation({
  id: 'invite_project_guest',
  method: 'POST',
  path: `${path}guest/`,
  access: 'member',
  tag: 'sharing',
  summary: 'Invites someone to your project',
  params: projectId,
  query: guestEmail,
  body: GuestPermissions,
  answer: [201],
  refusals: UNKNOWN,
});

export const updateGuest = operation({
  id: 'update_project_guest',
  method: 'PATCH',
  path: `${path}guest/`,
  access: 'member',
  tag: 'sharing',
  summary: 'Changes what a guest may do',
  params: projectId,
  query: guestEmail,
  body: GuestPermissions,
  answer: [200],
  refusals: UNKNOWN,
});

export const removeGuest = operation({
  id: 'remove_project_guest',
  method: 'DELETE',
  path: `${path}guest/`,
  access: 'member',
  tag: 'sharing',
  summary: 'Ends the sharing with someone',
  params: projectId,
  query: guestEmail,
  answer: [204],
  refusals: UNKNOWN,
});

export const listInvitations = operation({
  id: 'list_project_invitations',
  method: 'GET',
  path: '/api/v2/project/invitation/',
  access: 'reader',
  tag: 'sharing',
  summary: 'Invitations that you have not answered yet',
  answer: [200, z.array(ProjectInvitation)],
});

export const getAccess = operation({
  id: 'get_project_access',
  method: 'GET',
  path: `${path}access/`,
  access: 'reader',
  tag: 'sharing',
  summary: 'What you may do in a project',
  params: projectId,
  answer: [200, ProjectAccess],
  refusals: UNKNOWN,
});

export const acceptInvitation = operation({
  id: 'accept_project_invitation',
  method: 'POST',
  path: `${path}access/accept/`,
  access: 'member',
  tag: 'sharing',
  summary: 'Accepts an invitation',
  params: projectId,
  answer: [200],
  refusals: UNKNOWN,
});

export const leaveProject = operation({
  id: 'leave_project',
  method: 'DELETE',
  path: `${path}access/`,
  access: 'member',
  tag: 'sharing',
  summary: 'Declines an invitation or leaves a project',
  params: projectId,
  answer: [204],
  refusals: UNKNOWN,
});

export const adminListProjects = operation({
  id: 'admin_list_projects',
  method: 'GET',
  path: '/admin/v2/project/',
  access: 'superuser',
  tag: 'administration',
  summary: 'All projects',
  query: z.object({
    project_id: id().optional(),
    name: text().optional(),
    user_email: text().optional(),
    ...pageQuery,
  }),
  paginated: true,
  answer: [200, pageOf(ProjectAdmin)],
});

export const adminGetProject = operation({
  id: 'admin_get_project',
  method: 'GET',
  path: '/admin/v2/project/{project_id}/',
  access: 'superuser',
  tag: 'administration',
  summary: 'One project',
  params: projectId,
  answer: [200, ProjectAdmin],
  refusals: UNKNOWN,
});

export const transferProject = operation({
  id: 'transfer_project',
  method: 'PATCH',
  path: '/admin/v2/project/{project_id}/',
  access: 'superuser',
  tag: 'administration',
  summary: 'Gives a project to another owner',
  params: projectId,
  query: z.object({ user_id: id() }),
  answer: [200],
  refusals: UNKNOWN,
});

export const adminListLinks = operation({
  id: 'admin_list_project_links',
  method: 'GET',
  path: '/admin/v2/linkuserproject/',
  access: 'superuser',
  tag: 'administration',
  summary: 'Who is in which project',
  query: z.object({
    user_id: id().optional(),
    project_id: id().optional(),
    project_name: text().optional(),
    is_owner: boolean().optional(),
    is_verified: boolean().optional(),
    ...pageQuery,
  }),
  paginated: true,
  answer: [200, pageOf(ProjectLink)],
});

export const adminVerifyLink = operation({
  id: 'admin_verify_project_link',
  method: 'POST',
  path: '/admin/v2/linkuserproject/verify/',
  access: 'superuser',
  tag: 'administration',
  summary: 'Accepts an invitation for a guest account',
  query: z.object({ guest_user_id: id(), project_id: id() }),
  answer: [200],
  refusals: UNKNOWN,
});

export const search = operation({
  id: 'search',
  method: 'GET',
  path: '/api/v2/search/',
  access: 'reader',
  tag: 'projects',
  summary: 'Finds what you may read, by name',
  query: z.object({ q: text(), limit: integer({ least: 1 }).default(20) }),
  answer: [
    200,
    z.array(
      z.object({
        kind: z.enum(['project', 'dataset', 'workflow', 'job', 'task', 'template']),
        id: answer.integer(),
        name: answer.text(),
        project_id: answer.integer().nullable(),
        project_name: answer.text().nullable(),
      }),
    ),
  ],
});
