/**
 * What may become of a row that an existing database allows and ours does not. The report has a line for each.
 *
 *     change   the row is kept with another value
 *     value    the row is kept without a value, which goes to the remainders
 *     leave    the row cannot be kept; it goes to the remainders
 *     move     what the row says is kept elsewhere
 *     note     nothing is changed; an administrator may want to know
 */
export type Effect = 'change' | 'value' | 'leave' | 'move' | 'note';

export const RULES = {
  'references.null': 'value',
  'references.row': 'leave',
  'json.not-an-object': 'value',
  'lists.holes': 'value',
  'times.out-of-range': 'change',
  'resources.not-valid': 'note',
  'profiles.unknown-type': 'change',
  'profiles.other-type': 'note',
  'profiles.not-valid': 'note',
  'users.email-case': 'change',
  'users.guest-and-superuser': 'change',
  'users.no-project-dir': 'change',
  'users.no-profile': 'note',
  'users.unknown-password': 'note',
  'users.no-superuser': 'note',
  'oauth.twice': 'leave',
  'oauth.tokens': 'note',
  'task_groups.origin': 'change',
  'task_groups.twin': 'note',
  'tasks.tags': 'value',
  'projects.no-owner': 'change',
  'projects.guest-is-owner': 'move',
  'projects.name-twice': 'change',
  'images.not-a-list': 'value',
  'images.no-address': 'leave',
  'images.twice': 'leave',
  'images.address-too-long': 'leave',
  'images.long-address': 'note',
  'images.value': 'value',
  'images.more-keys': 'value',
  'workflows.name-twice': 'change',
  'workflow_tasks.order': 'change',
  'workflow_tasks.unknown-type': 'change',
  'jobs.unfinished': 'change',
  'jobs.unknown-status': 'change',
  'jobs.nobody': 'note',
  'jobs.no-end': 'note',
  'runs.unfinished': 'change',
  'runs.same-order': 'change',
  'units.unfinished': 'change',
  'activities.unfinished': 'change',
  'activities.no-end': 'note',
  'source.unknown': 'note',
} as const satisfies Record<string, Effect>;

export type Rule = keyof typeof RULES;

export const isChange = (rule: string): boolean => (RULES as Record<string, Effect>)[rule] !== 'note';

export const rulesThat = (...effects: Effect[]): Rule[] =>
  (Object.keys(RULES) as Rule[]).filter((rule) => effects.includes(RULES[rule]));
