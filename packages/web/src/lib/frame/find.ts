/** What Ctrl K finds: things of the service by their name, and pages of this client. */
import type { Answer } from '../api/client.ts';

export type Found = Answer<'projects.search'>[number];
type Kind = Found['kind'];

interface Hit {
  name: string;
  /** Where it lies, or what it is for. */
  note: string;
  href: string;
  icon: string;
}

export interface Group {
  name: string;
  hits: Hit[];
}

const KINDS: [kind: Kind, name: string, icon: string][] = [
  ['project', 'Projects', 'users'],
  ['dataset', 'Datasets', 'data'],
  ['workflow', 'Workflows', 'flow'],
  ['job', 'Jobs', 'clock'],
  ['task', 'Tasks', 'pack'],
  ['template', 'Templates', 'copy'],
];

/** The page of a thing. Tasks have no page of their own: the table shows them by name. */
export function addressOfFound({ kind, id, name, project_id }: Found): string {
  switch (kind) {
    case 'project':
      return `/v2/projects/${id}`;
    case 'dataset':
      return `/v2/projects/${project_id}/datasets/${id}`;
    case 'workflow':
      return `/v2/projects/${project_id}/workflows/${id}`;
    case 'job':
      return `/v2/projects/${project_id}/jobs/${id}`;
    case 'task':
      return `/v2/tasks?text=${encodeURIComponent(name)}`;
    case 'template':
      return `/v2/templates?template_id=${id}`;
  }
}

const noteOf = ({ kind, name, project_name }: Found): string => {
  if (kind === 'project' || project_name === null) return '';
  return kind === 'job' && name !== '' ? `${name}, ${project_name}` : project_name;
};

const hitOf = (found: Found, icon: string): Hit => ({
  name: found.kind === 'job' ? `Job ${found.id}` : found.name,
  note: noteOf(found),
  href: addressOfFound(found),
  icon,
});

/** Versions of a task have one name, and lead to the same table. */
const distinct = (hits: Hit[]): Hit[] => [...new Map(hits.map((hit) => [hit.href, hit])).values()];

/** By kind, in the order that the service found them. */
export const groupsOf = (found: readonly Found[]): Group[] =>
  KINDS.map(([kind, name, icon]) => ({
    name,
    hits: distinct(found.filter((one) => one.kind === kind).map((one) => hitOf(one, icon))),
  })).filter(({ hits }) => hits.length > 0);

const page = (name: string, href: string, note: string): Hit => ({ name, href, note, icon: 'right' });

const PAGES = [
  page('Projects', '/v2/projects', ''),
  page('Datasets', '/v2/datasets', 'of all projects'),
  page('Templates', '/v2/templates', 'workflows to begin with'),
  page('Tasks', '/v2/tasks', 'that workflows can use'),
  page('Task packages', '/v2/tasks/management', 'collect, share, switch off'),
  page('Jobs', '/v2/jobs', 'of all projects'),
  page('My profile', '/profile', 'token, notices, Slurm accounts'),
  page('Test job submission', '/healthcheck', ''),
];
const GUIDE = page('User guide', '/help', '');
const ADMIN = page('Admin area', '/v2/admin', '');

/** Pages of the client whose name or note has the text; all of them for no text. */
export function pagesNamed(text: string, { isAdmin, hasGuide }: { isAdmin: boolean; hasGuide: boolean }): Group[] {
  const wanted = text.trim().toLowerCase();
  const all = [...PAGES, ...(hasGuide ? [GUIDE] : []), ...(isAdmin ? [ADMIN] : [])];
  const hits = all.filter(({ name, note }) => `${name} ${note}`.toLowerCase().includes(wanted));
  return hits.length > 0 ? [{ name: 'Pages', hits }] : [];
}
