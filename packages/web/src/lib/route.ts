/**
 * The addresses of the pages, each written once.
 *
 *     route.workflow({ project_id: 3, workflow_id: 7 }, { dataset: 12 })   // /v2/projects/3/workflows/7?dataset=12
 *
 * Query values that are null or undefined are left out. `endpoint` is what the web server answers without a page.
 */
type Id = number | string;
type Value = string | number | boolean | null | undefined;
/** Several values of one name stand behind each other. */
type Query = Record<string, Value | readonly Value[]>;

interface InProject {
  project_id: Id;
}
interface OfWorkflow extends InProject {
  workflow_id: Id;
}
interface OfResource {
  resource_id: Id;
}
interface OfProfile extends OfResource {
  profile_id: Id;
}

function at(path: string, query: Query = {}): string {
  const given = Object.entries(query)
    .flatMap(([name, values]) => [values].flat().map((value) => [name, value] as const))
    .filter(([, value]) => value !== null && value !== undefined);
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`;
}

const page = (path: string) => (query?: Query) => at(path, query);

const inProject = ({ project_id }: InProject) => `/v2/projects/${project_id}`;
const ofWorkflow = (ids: OfWorkflow) => `${inProject(ids)}/workflows/${ids.workflow_id}`;
const ofUser = (user_id: Id) => `/v2/admin/users/${user_id}`;
const ofGroup = (group_id: Id) => `/v2/admin/groups/${group_id}`;
const ofResource = ({ resource_id }: OfResource) => `/v2/admin/resources/${resource_id}`;
const ofProfile = (ids: OfProfile) => `${ofResource(ids)}/profiles/${ids.profile_id}`;

const admin = {
  overview: page('/v2/admin'),
  accounting: page('/v2/admin/accounting'),
  activities: page('/v2/admin/task-groups/activities'),
  audit: page('/v2/admin/audit'),
  group: ofGroup,
  groupEdit: (group_id: Id) => `${ofGroup(group_id)}/edit`,
  groups: page('/v2/admin/groups'),
  impersonate: page('/v2/admin/impersonate'),
  import: page('/v2/admin/import'),
  jobs: page('/v2/admin/jobs'),
  profile: ofProfile,
  profileCreate: (ids: OfResource) => `${ofResource(ids)}/profiles/create`,
  profileEdit: (ids: OfProfile) => `${ofProfile(ids)}/edit`,
  profiles: (ids: OfResource) => `${ofResource(ids)}/profiles`,
  projects: page('/v2/admin/projects'),
  resourceCreate: page('/v2/admin/resources/create'),
  resourceEdit: (ids: OfResource) => `${ofResource(ids)}/edit`,
  resources: page('/v2/admin/resources'),
  settings: page('/v2/admin/settings'),
  sharing: page('/v2/admin/sharing'),
  taskGroupReset: (task_group_id: Id) => `/v2/admin/task-groups/${task_group_id}/reset`,
  taskGroups: page('/v2/admin/task-groups'),
  tasks: page('/v2/admin/tasks'),
  user: ofUser,
  userEdit: (user_id: Id) => `${ofUser(user_id)}/edit`,
  userRegister: page('/v2/admin/users/register'),
  users: page('/v2/admin/users'),
  usersInfo: page('/v2/admin/users-info'),
};

export const route = {
  home: page('/'),
  activities: page('/v2/tasks/activities'),
  dataset: (ids: InProject & { dataset_id: Id }, query?: Query) =>
    at(`${inProject(ids)}/datasets/${ids.dataset_id}`, query),
  datasets: page('/v2/datasets'),
  healthcheck: page('/healthcheck'),
  help: page('/help'),
  helpPage: (path: string) => (path === '' ? '/help/' : `/help/${path}/`),
  job: (ids: InProject & { job_id: Id }, query?: Query) => at(`${inProject(ids)}/jobs/${ids.job_id}`, query),
  jobs: page('/v2/jobs'),
  measurements: (ids: InProject & { dataset_id: Id }, query?: Query) =>
    at(`${inProject(ids)}/datasets/${ids.dataset_id}/measurements`, query),
  profile: page('/profile'),
  project: inProject,
  projects: page('/v2/projects'),
  sharing: (ids: InProject) => `${inProject(ids)}/sharing`,
  signIn: page('/auth/login'),
  taskPackages: page('/v2/tasks/management'),
  tasks: page('/v2/tasks'),
  templates: page('/v2/templates'),
  view: (ids: InProject & { dataset_id: Id }, query?: Query) =>
    at(`${inProject(ids)}/datasets/${ids.dataset_id}/view`, query),
  viewerPaths: page('/viewer-paths'),
  workflow: (ids: OfWorkflow, query?: Query) => at(ofWorkflow(ids), query),
  workflowJobs: (ids: OfWorkflow, query?: Query) => at(`${ofWorkflow(ids)}/jobs`, query),
  admin,
};

const ids = { project_id: '[project_id]', dataset_id: '[dataset_id]', workflow_id: '[workflow_id]' };
/** Pages as Kit calls them, whatever they show (`page.route.id`). */
export const pageId = { view: route.view(ids), workflow: route.workflow(ids) };

/** Pages of the manual, which the service has beside the client: open them with `rel="external"`. */
export const manualPage = (path = '') => `/manual/${path}`;

export const endpoint = {
  alive: '/alive',
  demoPackage: '/demo/package',
  demoWorkflow: '/demo/workflow',
  signOut: '/auth/token/logout',
  token: '/profile/token',
};

/** Where an account of elsewhere is asked for: the only call of the API whose address has a name from the settings. */
export const externalSignIn = (client: string) => `/api/auth/${encodeURIComponent(client)}/authorize`;

/** Below an address: the pages of the admin area, of the guide, and what belongs to signing in and out. */
export const isBelow = (pathname: string, above: string): boolean =>
  pathname === above || pathname.startsWith(`${above}/`);
export const area = { admin: '/v2/admin', auth: '/auth', demo: '/demo', help: '/help', helpMinimal: '/help/minimal' };
