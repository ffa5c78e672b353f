/** The parts of the admin area. Apart from those of the bar on top, which every page loads. */
import { isBelow, route } from '../route.ts';

export interface AdminSection {
  name: string;
  path: string;
}

const { admin } = route;
const ROOT = admin.overview();

export const ADMIN_SECTIONS: AdminSection[] = [
  { name: 'Overview', path: ROOT },
  { name: 'Users', path: admin.users() },
  { name: 'Groups', path: admin.groups() },
  { name: 'Resources', path: admin.resources() },
  { name: 'Projects', path: admin.projects() },
  { name: 'Sharing', path: admin.sharing() },
  { name: 'Jobs', path: admin.jobs() },
  { name: 'Tasks', path: admin.tasks() },
  { name: 'Task groups', path: admin.taskGroups() },
  { name: 'Activities', path: admin.activities() },
  { name: 'Accounting', path: admin.accounting() },
  { name: 'User report', path: admin.usersInfo() },
  { name: 'Impersonate', path: admin.impersonate() },
  { name: 'Audit log', path: admin.audit() },
  { name: 'Import', path: admin.import() },
  { name: 'Settings', path: admin.settings() },
];

/** The section with the longest path that leads to the page. */
export function isInAdminSection(pathname: string, section: AdminSection): boolean {
  const leads = ({ path }: AdminSection) => (path === ROOT ? pathname === ROOT : isBelow(pathname, path));
  const [best] = ADMIN_SECTIONS.filter(leads).sort((a, b) => b.path.length - a.path.length);
  return best === section;
}
