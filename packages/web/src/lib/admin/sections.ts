/** The parts of the admin area. */
export interface AdminSection {
  name: string;
  path: string;
  about: string;
}

const ROOT = '/v2/admin';

export const ADMIN_SECTIONS: AdminSection[] = [
  { name: 'Overview', path: ROOT, about: '' },
  { name: 'Users', path: `${ROOT}/users`, about: 'Accounts: who may sign in, with which profile and project folders.' },
  { name: 'Groups', path: `${ROOT}/groups`, about: 'With whom task packages and templates can be shared.' },
  { name: 'Resources', path: `${ROOT}/resources`, about: 'Where jobs run and packages are installed, and as whom.' },
  { name: 'Projects', path: `${ROOT}/projects`, about: 'All projects; give one to another owner.' },
  { name: 'Sharing', path: `${ROOT}/sharing`, about: 'Who is in which project; accept for guest accounts.' },
  { name: 'Jobs', path: `${ROOT}/jobs`, about: 'All jobs: look for them, read their logs, stop them.' },
  { name: 'Tasks', path: `${ROOT}/tasks`, about: 'All tasks and the workflows that use them; which ones are core.' },
  { name: 'Task groups', path: `${ROOT}/task-groups`, about: 'All packages: switch off, on, rebuild, delete.' },
  { name: 'Activities', path: `${ROOT}/task-groups/activities`, about: 'Installations and removals, with their logs.' },
  { name: 'Accounting', path: `${ROOT}/accounting`, about: 'How much was run, by whom and when.' },
  { name: 'User report', path: `${ROOT}/users-info`, about: 'Accounts and their numbers of jobs, as a table file.' },
  { name: 'Impersonate', path: `${ROOT}/impersonate`, about: 'Look at the service as somebody else.' },
  { name: 'Audit log', path: `${ROOT}/audit`, about: 'Who changed rights, accounts, resources and sharing, and when.' },
  { name: 'Settings', path: `${ROOT}/settings`, about: 'What the service was started with.' },
];

/** The section with the longest path that leads to the page. */
export function isInAdminSection(pathname: string, section: AdminSection): boolean {
  const leads = ({ path }: AdminSection) =>
    path === ROOT ? pathname === ROOT : pathname === path || pathname.startsWith(`${path}/`);
  const [best] = ADMIN_SECTIONS.filter(leads).sort((a, b) => b.path.length - a.path.length);
  return best === section;
}
