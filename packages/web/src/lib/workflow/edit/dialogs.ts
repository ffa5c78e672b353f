/** Rules of the dialogs that change a workflow: the order of its tasks, and what a template of it begins with. */
import type { Template, Workflow } from '@service/contract';

export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = list.filter((_, index) => index !== from);
  const at = Math.max(0, Math.min(to, rest.length));
  return [...rest.slice(0, at), list[from]!, ...rest.slice(at)];
}

export const sameOrder = <T>(one: readonly T[], other: readonly T[]): boolean =>
  one.length === other.length && one.every((item, index) => item === other[index]);

/** Why order, deletion and insertion wait; undefined when nothing runs. */
export const lockedBy = (submittedJobs: number): string | undefined =>
  submittedJobs === 0
    ? undefined
    : submittedJobs === 1
      ? 'A job of this workflow is running. The order is locked until it has ended.'
      : `${submittedJobs} jobs of this workflow are running. The order is locked until they have ended.`;

/** What the dialog for a new template begins with. */
export interface TemplateDefaults {
  name: string;
  version: number;
  description: string;
}

/** `template` is the one the workflow came from, if the reader can still see it. */
export function templateDefaults(
  workflow: Pick<Workflow, 'name' | 'description'>,
  template: Pick<Template, 'name' | 'version' | 'description' | 'user_email'> | undefined,
  email: string,
): TemplateDefaults {
  if (template === undefined) return { name: workflow.name, version: 1, description: workflow.description ?? '' };
  return {
    name: template.name,
    version: template.user_email === email ? template.version + 1 : 1,
    description: template.description ?? workflow.description ?? '',
  };
}
