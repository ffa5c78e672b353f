/** The audit log: who did what with rights, accounts and other people's things. */
import { z } from 'zod';

import { pageOf } from '../pagination.ts';
import { answer, choice, datetime, id, trimmedText } from '../wire/scalars.ts';

/** What is written down. Words are kept in the database: never rename one. */
export const AUDIT_ACTIONS = [
  'user.create',
  'user.update',
  'user.rights',
  'user.password',
  'user.impersonate',
  'user.act_as',
  'user.link_account',
  'user.sign_out',
  'token.create',
  'token.revoke',
  'group.create',
  'group.rename',
  'group.delete',
  'group.add_member',
  'group.remove_member',
  'resource.create',
  'resource.update',
  'resource.delete',
  'profile.create',
  'profile.update',
  'profile.delete',
  'project.delete',
  'project.transfer',
  'sharing.invite',
  'sharing.accept',
  'sharing.change',
  'sharing.remove',
  'sharing.leave',
  'dataset.delete',
  'workflow.delete',
  'template.share',
  'template.delete',
  'task.core',
  'task.update',
  'task_group.share',
  'task_group.deactivate',
  'task_group.reactivate',
  'task_group.reset',
  'task_group.delete',
  'job.stop',
  'job.label_failed',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export const AUDIT_OBJECTS = [
  'user',
  'token',
  'group',
  'resource',
  'profile',
  'project',
  'dataset',
  'workflow',
  'template',
  'task',
  'task_group',
  'job',
] as const;
export type AuditObject = (typeof AUDIT_OBJECTS)[number];

/** How it was asked for: by a person who signed in, by a program, or by whoever operates the service. */
export const AUDIT_VIA = ['session', 'token', 'servicectl', 'start'] as const;
export type AuditVia = (typeof AUDIT_VIA)[number];

export const AuditRecord = z
  .object({
    id: answer.integer(),
    timestamp: answer.text(),
    user_id: answer.integer().nullable(),
    user_email: answer.text().nullable(),
    as_user_id: answer.integer().nullable(),
    as_user_email: answer.text().nullable(),
    via: z.enum(AUDIT_VIA),
    address: answer.text(),
    action: answer.text(),
    object_type: z.enum(AUDIT_OBJECTS),
    object_id: answer.integer(),
    object_name: answer.text(),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditRecord' });
export type AuditRecord = z.output<typeof AuditRecord>;

export const AuditQuery = z.object({
  user_id: id().optional(),
  as_user_id: id().optional(),
  action: choice(AUDIT_ACTIONS).optional(),
  object_type: choice(AUDIT_OBJECTS).optional(),
  object_id: id().optional(),
  timestamp_min: datetime().optional(),
  timestamp_max: datetime().optional(),
  text: trimmedText().optional(),
});
export type AuditQuery = z.output<typeof AuditQuery>;

/** Long lists are counted to a limit: `more` says that there are more than `total_count`. */
export const AuditPage = pageOf(AuditRecord).extend({ more: answer.boolean() });
export type AuditPage = z.output<typeof AuditPage>;
