/** Which page of the user guide belongs to which screen. */
const BY_ROUTE: [route: string, path: string][] = [
  ['/v2/projects', '/reference/project-overview/'],
  ['/v2/projects/[project_id]', '/reference/project/'],
  ['/v2/projects/[project_id]/datasets/[dataset_id]', '/reference/dataset/'],
  ['/v2/datasets', '/reference/dataset/'],
  ['/v2/projects/[project_id]/workflows/[workflow_id]', '/reference/workflow/'],
  ['/v2/projects/[project_id]/workflows/[workflow_id]/jobs', '/reference/jobs/'],
  ['/v2/projects/[project_id]/jobs/[job_id]', '/reference/jobs/'],
  ['/v2/projects/[project_id]/sharing', '/sharing/'],
  ['/v2/jobs', '/reference/jobs/'],
  ['/v2/tasks', '/reference/task-collection/'],
  ['/v2/tasks/management', '/reference/task-collection/'],
  ['/v2/tasks/activities', '/reference/task-collection/'],
  ['/v2/templates', '/reference/templates/'],
  ['/profile', '/api-token/'],
];

/** The names of parameters do not count: `/v2/projects/[id]` is `/v2/projects/[project_id]`. */
const nameless = (route: string) => route.replace(/\[[^\]]*\]/g, '[]');

export const helpPath = (route: string | null): string | undefined =>
  route === null ? undefined : BY_ROUTE.find(([one]) => nameless(one) === nameless(route))?.[1];

/** The chrome-less page that the dialog shows; the version keeps an old copy from being shown after an update. */
export const minimalAddress = (base: string, path: string, version: string): string =>
  `${base}/minimal${path}?v=${encodeURIComponent(version)}`;

/** A guide on another site is framed; ours is read and shown in place. */
export const isOwnGuide = (base: string): boolean => base.startsWith('/');
