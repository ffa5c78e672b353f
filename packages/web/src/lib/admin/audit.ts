/** The audit log in words, and its filters as the address has them. */
import type { AuditAction, AuditObject, AuditQuery, AuditRecord } from '@service/contract';

import { inWords } from '../json.ts';
import { momentIn, textOf, wholeOf } from '../ui/asked.ts';

const ACTIONS: Record<AuditAction, string> = {
  'user.create': 'Created account',
  'user.update': 'Changed account',
  'user.rights': 'Changed rights',
  'user.password': 'Set password',
  'user.impersonate': 'Impersonated',
  'user.act_as': 'Acted while impersonating',
  'user.link_account': 'Linked external account',
  'user.sign_out': 'Signed out everywhere',
  'token.create': 'Created token',
  'token.revoke': 'Revoked token',
  'group.create': 'Created group',
  'group.rename': 'Renamed group',
  'group.delete': 'Deleted group',
  'group.add_member': 'Added group member',
  'group.remove_member': 'Removed group member',
  'resource.create': 'Created resource',
  'resource.update': 'Changed resource',
  'resource.delete': 'Deleted resource',
  'profile.create': 'Created profile',
  'profile.update': 'Changed profile',
  'profile.delete': 'Deleted profile',
  'project.delete': 'Deleted project',
  'project.transfer': 'Transferred project',
  'sharing.invite': 'Invited to project',
  'sharing.accept': 'Accepted invitation',
  'sharing.change': 'Changed permissions',
  'sharing.remove': 'Removed from project',
  'sharing.leave': 'Left project',
  'dataset.delete': 'Deleted dataset',
  'workflow.delete': 'Deleted workflow',
  'template.share': 'Shared template',
  'template.delete': 'Deleted template',
  'task.core': 'Changed core task',
  'task.update': 'Changed task command',
  'task_group.share': 'Shared task group',
  'task_group.deactivate': 'Deactivated task group',
  'task_group.reactivate': 'Reactivated task group',
  'task_group.reset': 'Rebuilt task group',
  'task_group.delete': 'Deleted task group',
  'job.stop': 'Stopped job',
  'job.label_failed': 'Set job to failed',
};

const OBJECTS: Record<AuditObject, string> = {
  user: 'User',
  token: 'Token',
  group: 'Group',
  resource: 'Resource',
  profile: 'Profile',
  project: 'Project',
  dataset: 'Dataset',
  workflow: 'Workflow',
  template: 'Template',
  task: 'Task',
  task_group: 'Task group',
  job: 'Job',
};

const optionsOf = (words: Record<string, string>) => Object.entries(words).map(([value, name]) => ({ value, name }));

export const ACTION_OPTIONS = optionsOf(ACTIONS);
export const OBJECT_OPTIONS = optionsOf(OBJECTS);

/** A word that a newer service knows is shown as it is. */
export const actionWords = (action: string): string => (ACTIONS as Record<string, string>)[action] ?? action;
export const objectWords = (type: AuditObject): string => OBJECTS[type];

export const TIMES = [
  ['timestamp_min', 'From'],
  ['timestamp_max', 'Until'],
] as const;

/** What the address can ask for; clearing the filters clears all of it. */
export const AUDIT_FILTERS = [
  'user_id',
  'as_user_id',
  'action',
  'object_type',
  'object_id',
  'text',
  ...TIMES.map(([key]) => key),
] as const;

const knownIn = <T extends string>(words: Record<T, string>, text: string | undefined): T | undefined =>
  text !== undefined && Object.hasOwn(words, text) ? (text as T) : undefined;

export const auditFilters = (search: URLSearchParams): Partial<AuditQuery> => ({
  user_id: wholeOf(search, 'user_id'),
  as_user_id: wholeOf(search, 'as_user_id'),
  action: knownIn(ACTIONS, textOf(search, 'action')),
  object_type: knownIn(OBJECTS, textOf(search, 'object_type')),
  object_id: wholeOf(search, 'object_id'),
  text: textOf(search, 'text'),
  ...Object.fromEntries(TIMES.map(([key]) => [key, momentIn(search, key)])),
});

function valueWords(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(valueWords).join(', ');
  return inWords(value);
}

/** `is_superuser: no → yes`; of configuration only that it changed. */
export function detailLines({ details }: Pick<AuditRecord, 'details'>): { field: string; text: string }[] {
  return Object.entries(details).map(([field, value]) => {
    const change = value as { from?: unknown; to?: unknown; changed?: true } | null;
    if (typeof change !== 'object' || change === null || Array.isArray(change))
      return { field, text: valueWords(value) };
    if (change.changed) return { field, text: 'changed' };
    return { field, text: `${valueWords(change.from)} → ${valueWords(change.to)}` };
  });
}
