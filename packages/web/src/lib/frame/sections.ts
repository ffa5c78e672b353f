/** The sections of the client, as the bar on top names them. */
import { isBelow, route } from '../route.ts';

export interface Section {
  name: string;
  path: string;
  /** Only administrators see it. */
  admin?: true;
}

export const SECTIONS: Section[] = [
  { name: 'Projects', path: route.projects() },
  { name: 'Datasets', path: route.datasets() },
  { name: 'Templates', path: route.templates() },
  { name: 'Tasks', path: route.tasks() },
  { name: 'Jobs', path: route.jobs() },
  { name: 'Admin', path: route.admin.overview(), admin: true },
];

/** The section that a page belongs to: what lies below counts too, what only begins alike does not. */
export const isInSection = (pathname: string, { path }: Pick<Section, 'path'>): boolean => isBelow(pathname, path);
