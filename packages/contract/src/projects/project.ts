/** Projects and who shares them. */
import { z } from 'zod';

import { Progress } from '../jobs/task-status.ts';
import { answer, choice, name, trimmedText } from '../wire/scalars.ts';

export const PERMISSIONS = ['r', 'rw', 'rwx'] as const;
export type Permissions = (typeof PERMISSIONS)[number];

const project = {
  id: answer.integer(),
  name: answer.text(),
  description: answer.text().nullable(),
  is_starred: answer.boolean(),
  timestamp_created: answer.time(),
};

/** What the caller is in this project; pages need it beside the project. */
const membership = {
  is_owner: answer.boolean(),
  permissions: z.enum(PERMISSIONS),
  owner_email: answer.text(),
};

export const Project = z.object({ ...project, ...membership }).meta({ id: 'ProjectRead' });
export type Project = z.output<typeof Project>;

const LastJob = z.object({
  id: answer.integer(),
  status: answer.text(),
  stopped: answer.boolean(),
  has_warnings: answer.boolean(),
  workflow_name: answer.text(),
  dataset_name: answer.text(),
  task_name: answer.text().nullable(),
  timestamp: answer.time(),
  progress: Progress.nullable(),
});

export const ProjectInList = z
  .object({
    ...project,
    ...membership,
    num_datasets: answer.integer(),
    num_workflows: answer.integer(),
    num_members: answer.integer(),
    image_count: answer.integer(),
    last_job: LastJob.nullable(),
  })
  .meta({ id: 'ProjectInList' });
export type ProjectInList = z.output<typeof ProjectInList>;

export const ProjectAdmin = z.object({ ...project, user_email: answer.text() }).meta({ id: 'ProjectReadSuperuser' });
export type ProjectAdmin = z.output<typeof ProjectAdmin>;

export const ProjectCreate = z
  .strictObject({ name: name(), description: trimmedText().nullable().default(null) })
  .meta({ id: 'ProjectCreate' });
export type ProjectCreate = z.output<typeof ProjectCreate>;

export const ProjectUpdate = z
  .strictObject({ name: name().optional(), description: trimmedText().nullable().optional() })
  .meta({ id: 'ProjectUpdate' });
export type ProjectUpdate = z.output<typeof ProjectUpdate>;

export const GuestPermissions = z.object({ permissions: choice(PERMISSIONS) }).meta({ id: 'ProjectGuestCreate' });

export const ProjectGuest = z
  .object({ email: answer.text(), is_verified: answer.boolean(), permissions: z.enum(PERMISSIONS) })
  .meta({ id: 'ProjectGuestRead' });

export const ProjectInvitation = z
  .object({
    project_id: answer.integer(),
    project_name: answer.text(),
    owner_email: answer.text(),
    guest_permissions: z.enum(PERMISSIONS),
  })
  .meta({ id: 'ProjectInvitationRead' });

export const ProjectAccess = z
  .object({ is_owner: answer.boolean(), permissions: z.enum(PERMISSIONS), owner_email: answer.text() })
  .meta({ id: 'ProjectAccessRead' });

export const ProjectLink = z
  .object({
    user_id: answer.integer(),
    user_email: answer.text(),
    project_id: answer.integer(),
    project_name: answer.text(),
    is_verified: answer.boolean(),
    is_owner: answer.boolean(),
    permissions: z.enum(PERMISSIONS),
  })
  .meta({ id: 'LinkUserProjectRead' });
