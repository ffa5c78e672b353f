/** What Ctrl K finds: things of the service by their name, and pages of this client. */
import type { Answer } from '../api/client.ts';
import { route } from '../route.ts';

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
export function addressOfFound({ kind, id, name, project_id: project }: Found): string {
  // datasets, workflows and jobs that are found always are in a project
  const project_id = project!;
  switch (kind) {
    case 'project':
      return route.project({ project_id: id });
    case 'dataset':
      return route.dataset({ project_id, dataset_id: id });
    case 'workflow':
      return route.workflow({ project_id, workflow_id: id });
    case 'job':
      return route.job({ project_id, job_id: id });
    case 'task':
      return route.tasks({ text: name });
    case 'template':
      return route.templates({ template_id: id });
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
  page('Projects', route.projects(), ''),
  page('Datasets', route.datasets(), 'of all projects'),
  page('Templates', route.templates(), 'workflows to begin with'),
  page('Tasks', route.tasks(), 'that workflows can use'),
  page('Task packages', route.taskPackages(), 'collect, share, switch off'),
  page('Jobs', route.jobs(), 'of all projects'),
  page('My profile', route.profile(), 'token, notices, Slurm accounts'),
];
const TEST = page('Test job submission', route.healthcheck(), '');
const GUIDE = page('User guide', route.help(), '');
const ADMIN = page('Admin area', route.admin.overview(), '');

/** Pages of the client whose name or note has the text; all of them for no text. */
export function pagesNamed(
  text: string,
  { isAdmin, isGuest, hasGuide }: { isAdmin: boolean; isGuest: boolean; hasGuide: boolean },
): Group[] {
  const wanted = text.trim().toLowerCase();
  const all = [...PAGES, ...(isGuest ? [] : [TEST]), ...(hasGuide ? [GUIDE] : []), ...(isAdmin ? [ADMIN] : [])];
  const hits = all.filter(({ name, note }) => `${name} ${note}`.toLowerCase().includes(wanted));
  return hits.length > 0 ? [{ name: 'Pages', hits }] : [];
}
