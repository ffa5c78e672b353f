/** What the dialog for a new template begins with (web contract 5.12.12). */
import type { Template, Workflow } from '@service/contract';

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
