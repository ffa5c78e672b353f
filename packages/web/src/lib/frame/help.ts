/** Which page of the user guide belongs to which screen. */
import { route } from '../route.ts';

/** In the place of all ids, as in the ids of Kit's routes. */
const ANY = '[]';
const project = { project_id: ANY };
const workflow = { ...project, workflow_id: ANY };

const BY_ROUTE: [address: string, path: string][] = [
  [route.projects(), '/reference/project-overview/'],
  [route.project(project), '/reference/project/'],
  [route.dataset({ ...project, dataset_id: ANY }), '/reference/dataset/'],
  [route.measurements({ ...project, dataset_id: ANY }), '/reference/dataset/'],
  [route.datasets(), '/reference/dataset/'],
  [route.workflow(workflow), '/reference/workflow/'],
  [route.workflowJobs(workflow), '/reference/jobs/'],
  [route.job({ ...project, job_id: ANY }), '/reference/jobs/'],
  [route.sharing(project), '/sharing/'],
  [route.jobs(), '/reference/jobs/'],
  [route.tasks(), '/reference/task-collection/'],
  [route.taskPackages(), '/reference/task-collection/'],
  [route.activities(), '/reference/task-collection/'],
  [route.templates(), '/reference/templates/'],
  [route.profile(), '/api-token/'],
];

const nameless = (id: string) => id.replace(/\[[^\]]*\]/g, ANY);

/** `id` is that of the route, such as `/v2/projects/[project_id]`. */
export const helpPath = (id: string | null): string | undefined =>
  id === null ? undefined : BY_ROUTE.find(([address]) => address === nameless(id))?.[1];

/** The chrome-less page that the dialog shows; the version keeps an old copy from being shown after an update. */
export const minimalAddress = (base: string, path: string, version: string): string =>
  `${base}/minimal${path}?v=${encodeURIComponent(version)}`;

/** A guide on another site is framed; ours is read and shown in place. */
export const isOwnGuide = (base: string): boolean => base.startsWith('/');
