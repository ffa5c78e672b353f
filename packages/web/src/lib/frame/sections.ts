/** The sections of the client, as the bar on top names them. */
export interface Section {
  name: string;
  path: string;
  /** Only administrators see it. */
  admin?: true;
}

export const SECTIONS: Section[] = [
  { name: 'Projects', path: '/v2/projects' },
  { name: 'Datasets', path: '/v2/datasets' },
  { name: 'Templates', path: '/v2/templates' },
  { name: 'Tasks', path: '/v2/tasks' },
  { name: 'Jobs', path: '/v2/jobs' },
  { name: 'Admin', path: '/v2/admin', admin: true },
];

/** The section that a page belongs to: what lies below counts too, what only begins alike does not. */
export const isInSection = (pathname: string, { path }: Pick<Section, 'path'>): boolean =>
  pathname === path || pathname.startsWith(`${path}/`);
