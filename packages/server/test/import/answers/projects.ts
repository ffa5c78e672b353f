/** Projects with their datasets, workflows and guests, and templates, as an existing server tells of them. */
import { compareVersions, isVersion } from '../../../src/engine/pep440.ts';
import { adminRefusalOf, anyOrder, exactly, page, type Read, refusalOf, refused, SOME_TEXT } from './expected.ts';
import { byId, type Caller, emailOf, groupIdsOf, latestFirst, type Old, pick, type Row, sorted, zulu } from './old.ts';
import { isListed, mayReadGroup, taskAnswer } from './tasks.ts';

const projectAnswer = (project: Row) => pick(project, 'id', 'name', 'description', 'is_starred', 'timestamp_created');

const ownerOf = (old: Old, project: Row): number =>
  old.links.find((link) => link['project_id'] === project['id'] && link['is_owner'])!['user_id'] as number;

const linkOf = (old: Old, caller: Caller, project: Row) =>
  old.links.find((link) => link['project_id'] === project['id'] && link['user_id'] === caller['id']);

/** Whether somebody may look at a project. */
export const mayRead = (old: Old, caller: Caller, project: Row): boolean =>
  linkOf(old, caller, project)?.['is_verified'] === true;

const datasetAnswer = (old: Old, dataset: Row) => ({
  ...pick(dataset, 'id', 'name', 'project_id', 'timestamp_created', 'zarr_dir', 'is_starred'),
  project: projectAnswer(byId(old.projects, dataset['project_id'])!),
});

export const imageAnswer = (image: Row) => ({
  zarr_url: image['zarr_url'] as string,
  origin: (image['origin'] ?? null) as string | null,
  attributes: exactly(image['attributes'] ?? {}),
  types: exactly(image['types'] ?? {}),
});

type Value = string | number | boolean;
const kept = (image: Row, name: 'attributes' | 'types') => (image[name] ?? {}) as Record<string, Value>;

/** Every attribute with its values, as they are shown: numbers by size, texts by their bytes, equal numbers once. */
export function attributesOf(images: Row[]): Record<string, unknown> {
  const found = new Map<string, Value[]>();
  for (const image of images) {
    for (const [key, value] of Object.entries(kept(image, 'attributes'))) {
      const values = found.get(key) ?? [];
      const same = (one: Value) =>
        typeof one === 'string' || typeof value === 'string' ? one === value : Number(one) === Number(value);
      if (!values.some(same)) found.set(key, [...values, value]);
    }
  }
  return Object.fromEntries(
    [...found].map(([key, values]) => {
      const isMixed = new Set(values.map((value) => typeof value === 'string')).size > 1;
      return [key, isMixed ? anyOrder(values) : sorted(values, (value) => value)];
    }),
  );
}

export const typesOf = (images: Row[]) =>
  anyOrder([...new Set(images.flatMap((image) => Object.keys(kept(image, 'types'))))]);

const mixedTypes = (images: Row[]): string[] => {
  const names = [...new Set(images.flatMap((image) => Object.keys(kept(image, 'types'))))].sort();
  return names.filter((name) => new Set(images.map((image) => kept(image, 'types')[name] ?? false)).size > 1);
};

const workflowTaskAnswer = (old: Old, one: Row) => ({
  ...one,
  ...Object.fromEntries(
    ['meta_parallel', 'meta_non_parallel', 'args_parallel', 'args_non_parallel', 'type_filters'].map((name) => [
      name,
      exactly(one[name]),
    ]),
  ),
  task: taskAnswer(byId(old.tasks, one['task_id'])!),
});

export const tasksOfWorkflow = (old: Old, { id }: Row): Row[] =>
  sorted(
    old.workflowTasks.filter((one) => one['workflow_id'] === id),
    (one) => one['order'] as number,
  );

const groupOfTask = (old: Old, one: Row) => byId(old.taskGroups, byId(old.tasks, one['task_id'])!['taskgroupv2_id'])!;

function warningFor(old: Old, caller: Caller, one: Row) {
  const group = groupOfTask(old, one);
  return mayReadGroup(old, caller, group) && group['active'] ? null : SOME_TEXT;
}

const workflowAnswer = (old: Old, workflow: Row, caller?: Caller) => ({
  ...pick(workflow, 'id', 'name', 'project_id', 'is_starred', 'timestamp_created', 'description', 'template_id'),
  project: projectAnswer(byId(old.projects, workflow['project_id'])!),
  task_list: tasksOfWorkflow(old, workflow).map((one) => ({
    ...workflowTaskAnswer(old, one),
    ...(caller ? { warning: warningFor(old, caller, one) } : {}),
  })),
});

const workflowExport = (old: Old, workflow: Row) => ({
  ...pick(workflow, 'name', 'description'),
  task_list: tasksOfWorkflow(old, workflow).map((one) => ({
    ...pick(one, 'description', 'alias'),
    ...Object.fromEntries(
      ['meta_parallel', 'meta_non_parallel', 'args_parallel', 'args_non_parallel', 'type_filters'].map((name) => [
        name,
        exactly(one[name]),
      ]),
    ),
    task: {
      ...pick(groupOfTask(old, one), 'pkg_name', 'version'),
      name: byId(old.tasks, one['task_id'])!['name'] as string,
    },
  })),
});

/** What a task may become when it is replaced, beside its own type. */
const NEXT_TYPE: Record<string, string> = { non_parallel: 'converter_non_parallel', compound: 'converter_compound' };

const hasSchema = (task: Row, isEmpty: (schema: unknown) => boolean) =>
  !isEmpty(task['args_schema_parallel']) || !isEmpty(task['args_schema_non_parallel']);

/** Newer versions of a task that its place in a workflow could have. */
function newerVersions(old: Old, caller: Caller, one: Row) {
  const task = byId(old.tasks, one['task_id'])!;
  const group = groupOfTask(old, one);
  const version = group['version'] as string;
  if (!hasSchema(task, (schema) => schema === null || Object.keys(schema as object).length === 0)) return [];
  if (!isVersion(version)) return [];
  const found = old.tasks.flatMap((candidate) => {
    const theirs = byId(old.taskGroups, candidate['taskgroupv2_id'])!;
    const newer = theirs['version'] as string;
    const fits =
      candidate['name'] === task['name'] &&
      theirs['pkg_name'] === group['pkg_name'] &&
      theirs['active'] &&
      isListed(old, caller, theirs) &&
      hasSchema(candidate, (schema) => schema === null) &&
      [one['task_type'], NEXT_TYPE[one['task_type'] as string]].includes(candidate['type']) &&
      isVersion(newer) &&
      compareVersions(newer, version) > 0;
    return fits ? [{ task_id: candidate['id'] as number, version: newer }] : [];
  });
  return found.sort((a, b) => compareVersions(a.version, b.version));
}

/** What flows from task to task; undefined where a task contradicts itself. */
function typeFlow(old: Old, workflow: Row) {
  let current: Row = {};
  return tasksOfWorkflow(old, workflow).map((one) => {
    const task = byId(old.tasks, one['task_id'])!;
    const line = {
      workflowtask_id: one['id'] as number,
      current_type_filters: exactly(current),
      input_type_filters: exactly({ ...(task['input_types'] as object), ...(one['type_filters'] as object) }),
      output_type_filters: exactly(task['output_types'] ?? {}),
    };
    current = { ...current, ...(task['output_types'] as object) };
    return line;
  });
}

/** Images that the task before has not done. */
function notProcessed(old: Old, workflow: Row, dataset: Row, one: Row): string[] {
  const before = tasksOfWorkflow(old, workflow)[(one['order'] as number) - 1];
  if (!before) return [];
  const task = byId(old.tasks, before['task_id'])!;
  const changes = Object.keys((task['output_types'] ?? {}) as object).length > 0;
  if (changes || (task['type'] as string).startsWith('converter_')) return [];
  const urls = (dataset['images'] as Row[]).map((image) => image['zarr_url'] as string);
  return urls.filter((url) => statusOf(old, dataset, before, url) !== 'done');
}

const cacheOf = (old: Old, dataset: Row, one: Row, url: string) =>
  old.cache.find(
    (row) => row['zarr_url'] === url && row['dataset_id'] === dataset['id'] && row['workflowtask_id'] === one['id'],
  );

/** The unit that an image was in last. */
export const latestUnit = (old: Old, dataset: Row, one: Row, url: string): Row | undefined =>
  byId(old.units, cacheOf(old, dataset, one, url)?.['latest_history_unit_id']);

export const statusOf = (old: Old, dataset: Row, one: Row, url: string): string =>
  (latestUnit(old, dataset, one, url)?.['status'] ?? 'unset') as string;

function datasetReads(old: Old, project: Row, dataset: Row): Read[] {
  const path = `/api/v2/project/${project['id']}/dataset/${dataset['id']}/`;
  const images = dataset['images'] as Row[];
  const all = images.map(imageAnswer);
  const facets = { attributes: attributesOf(images), types: typesOf(images) };
  const size = 7;
  const pages = Array.from({ length: Math.ceil(images.length / size) }, (_, index): Read => {
    const items = all.slice(index * size, (index + 1) * size);
    return {
      path: `${path}images/query/?page=${index + 1}&page_size=${size}`,
      body: {},
      status: 200,
      answer: { current_page: index + 1, page_size: size, total_count: images.length, items, ...facets },
    };
  });
  const [first] = images;
  return [
    { path, status: 200, answer: datasetAnswer(old, dataset) },
    { path: `${path}export/`, status: 200, answer: { ...pick(dataset, 'name', 'zarr_dir'), images: all } },
    { path: `${path}images/query/`, body: {}, status: 200, answer: page(all, facets) },
    ...pages,
    ...(first
      ? [
          {
            path: `${path}images/query/`,
            body: { zarr_url: first['zarr_url'] as string },
            status: 200,
            answer: page([all[0]], facets),
          },
        ]
      : []),
    { path: `${path}images/verify-unique-types/?workflowtask_id=1`, body: {}, status: 200, answer: mixedTypes(images) },
  ];
}

function workflowReads(old: Old, project: Row, workflow: Row, caller: Caller): Read[] {
  const path = `/api/v2/project/${project['id']}/workflow/${workflow['id']}/`;
  const list = tasksOfWorkflow(old, workflow);
  const ok = (end: string, answer: unknown): Read => ({ path: path + end, status: 200, answer });
  const datasets = old.datasets.filter((one) => one['project_id'] === project['id']);
  return [
    ok('', workflowAnswer(old, workflow, caller)),
    ok('export/', workflowExport(old, workflow)),
    ok(
      'version-update-candidates/',
      list.map((one) => anyOrder(newerVersions(old, caller, one))),
    ),
    list.length === 0
      ? { path: `${path}type-filters-flow/`, status: 422 }
      : ok('type-filters-flow/', typeFlow(old, workflow)),
    ...list.flatMap((one) => [
      ok(`wftask/${one['id']}/`, workflowTaskAnswer(old, one)),
      ...datasets.map((dataset): Read => ({
        path: `/api/v2/project/${project['id']}/dataset/${dataset['id']}/images/non-processed/?workflow_id=${workflow['id']}&workflowtask_id=${one['id']}`,
        body: {},
        status: 200,
        answer: anyOrder(notProcessed(old, workflow, dataset, one)),
      })),
    ]),
    { path: `${path}wftask/999999/`, status: 404 },
  ];
}

const starredFirst = (rows: Row[]) =>
  sorted(
    rows,
    (row) => !row['is_starred'],
    (row) => row['name'] as string,
  );

/** Starred ones first, then the latest ones. */
const latestStarred = (rows: Row[]) => {
  const latest = latestFirst(rows, (row) => row['timestamp_created'] as string);
  return [...latest.filter((row) => row['is_starred']), ...latest.filter((row) => !row['is_starred'])];
};

function projectReadsOf(old: Old, project: Row, caller: Caller): Read[] {
  const path = `/api/v2/project/${project['id']}/`;
  const link = linkOf(old, caller, project);
  const isOwner = link?.['is_owner'] === true;
  const guests = sorted(
    old.links
      .filter((one) => one['project_id'] === project['id'] && !one['is_owner'])
      .map((one) => ({ email: emailOf(old, one['user_id'] as number), ...pick(one, 'is_verified', 'permissions') })),
    (one) => one.email,
  );
  const guestRead: Read = isOwner
    ? { path: `${path}guest/`, status: 200, answer: guests }
    : { path: `${path}guest/`, status: 403 };
  if (!mayRead(old, caller, project)) {
    return [guestRead, { path: `${path}access/`, status: 404 }, { path, status: 403 }];
  }
  const datasets = old.datasets.filter((one) => one['project_id'] === project['id']);
  const workflows = old.workflows.filter((one) => one['project_id'] === project['id']);
  const owner_email = emailOf(old, ownerOf(old, project));
  const access = { ...pick(link!, 'is_owner', 'permissions'), owner_email };
  return [
    guestRead,
    { path, status: 200, answer: projectAnswer(project) },
    { path: `${path}access/`, status: 200, answer: access },
    {
      path: `${path}dataset/`,
      status: 200,
      answer: starredFirst(datasets).map((dataset) => datasetAnswer(old, dataset)),
    },
    {
      path: `${path}workflow/`,
      status: 200,
      answer: starredFirst(workflows).map((workflow) => workflowAnswer(old, workflow)),
    },
    { path: `${path}dataset/999999/`, status: 404 },
    { path: `${path}workflow/999999/`, status: 404 },
    ...datasets.flatMap((dataset) => datasetReads(old, project, dataset)),
    ...workflows.flatMap((workflow) => workflowReads(old, project, workflow, caller)),
  ];
}

const templateAnswer = (old: Old, template: Row) => ({
  ...pick(template, 'id', 'name', 'version', 'user_group_id', 'description', 'fractal_server_version'),
  user_email: emailOf(old, template['user_id'] as number),
  timestamp_created: zulu(template['timestamp_created'] as string),
  timestamp_last_used: zulu(template['timestamp_last_used'] as string),
  data: exactly(template['data']),
});

function templateReads(old: Old, caller: Caller): Read[] {
  const groups = groupIdsOf(old, caller);
  const readable = old.templates.filter(
    (one) => one['user_id'] === caller['id'] || groups.includes(one['user_group_id'] as number),
  );
  const named = new Map<string, Row[]>();
  for (const one of readable) {
    const key = JSON.stringify([emailOf(old, one['user_id'] as number), one['name']]);
    named.set(key, [...(named.get(key) ?? []), one]);
  }
  const items = [...named].map(([key, templates]) => {
    const [user_email, template_name] = JSON.parse(key) as [string, string];
    const versions = sorted(templates, (one) => -(one['version'] as number)).map((one) => ({
      template_id: one['id'] as number,
      template_version: one['version'] as number,
    }));
    return { user_email, template_name, templates: versions };
  });
  const ordered = sorted(
    items,
    ({ user_email }) => user_email !== caller['email'],
    ({ user_email }) => user_email,
    ({ template_name }) => template_name,
  );
  const email_list = [...new Set(items.map(({ user_email }) => user_email))].sort();
  return [
    { path: '/api/v2/workflow-template/', status: 200, answer: page(ordered, { email_list }) },
    ...old.templates.flatMap((one): Read[] => {
      const path = `/api/v2/workflow-template/${one['id']}/`;
      if (!readable.includes(one)) return refused([path, `${path}export/`], 403);
      const exported = { ...pick(one, 'name', 'version', 'description'), data: exactly(one['data']) };
      return [
        { path, status: 200, answer: templateAnswer(old, one) },
        { path: `${path}export/`, status: 200, answer: exported },
      ];
    }),
    { path: '/api/v2/workflow-template/999999/', status: 404 },
  ];
}

function ownReads(old: Old, caller: Caller): Read[] {
  const linked = (is: (link: Row) => boolean) =>
    old.links
      .filter((link) => link['user_id'] === caller['id'] && is(link))
      .map((link) => byId(old.projects, link['project_id'])!);
  const owned = linked((link) => link['is_owner'] as boolean);
  const shared = linked((link) => !link['is_owner'] && (link['is_verified'] as boolean));
  const expanded = (projects: Row[]) =>
    page(
      latestStarred(old.datasets.filter((one) => projects.some(({ id }) => id === one['project_id']))).map(
        (dataset) => ({
          ...datasetAnswer(old, dataset),
          owner_email: emailOf(old, ownerOf(old, byId(old.projects, dataset['project_id'])!)),
          image_count: (dataset['images'] as Row[]).length,
        }),
      ),
    );
  const invitations = sorted(
    old.links
      .filter((link) => link['user_id'] === caller['id'] && !link['is_verified'])
      .map((link) => ({
        project_id: link['project_id'] as number,
        project_name: byId(old.projects, link['project_id'])!['name'] as string,
        owner_email: emailOf(old, ownerOf(old, byId(old.projects, link['project_id'])!)),
        guest_permissions: link['permissions'] as string,
      })),
    (one) => one.project_name,
  );
  return [
    { path: '/api/v2/project/', status: 200, answer: latestStarred(owned).map(projectAnswer) },
    { path: '/api/v2/project/?is_owner=false', status: 200, answer: latestStarred(shared).map(projectAnswer) },
    { path: '/api/v2/project/invitation/', status: 200, answer: caller['is_guest'] ? [] : invitations },
    { path: '/api/v2/dataset/', status: 200, answer: expanded([...owned, ...shared]) },
    { path: '/api/v2/dataset/?only_owned=true', status: 200, answer: expanded(owned) },
    ...old.projects.flatMap((project) => projectReadsOf(old, project, caller)),
    ...templateReads(old, caller),
    { path: '/api/v2/project/999999/', status: 404 },
  ];
}

function adminReads(old: Old): Read[] {
  const projects = old.projects.map((project) => ({
    ...projectAnswer(project),
    user_email: emailOf(old, ownerOf(old, project)),
  }));
  const links = old.links.map((link) => ({
    ...pick(link, 'user_id', 'project_id', 'is_verified', 'is_owner', 'permissions'),
    user_email: emailOf(old, link['user_id'] as number),
    project_name: byId(old.projects, link['project_id'])!['name'] as string,
  }));
  const orderedLinks = (is: (link: Row) => boolean) =>
    page(
      sorted(
        links.filter(is),
        (link) => link.user_email,
        (link) => link.project_name,
      ),
    );
  return [
    {
      path: '/admin/v2/project/',
      status: 200,
      answer: page(
        sorted(
          projects as Row[],
          (one) => one['user_email'] as string,
          (one) => one['name'] as string,
        ),
      ),
    },
    { path: '/admin/v2/linkuserproject/', status: 200, answer: orderedLinks(() => true) },
    {
      path: '/admin/v2/linkuserproject/?is_owner=false',
      status: 200,
      answer: orderedLinks((link) => !link['is_owner']),
    },
    {
      path: '/admin/v2/linkuserproject/?is_verified=false',
      status: 200,
      answer: orderedLinks((link) => !link['is_verified']),
    },
  ];
}

export function projectReads(old: Old, caller: Caller): Read[] {
  const own = refusalOf(caller);
  const admin = adminRefusalOf(caller);
  return [
    ...(own === undefined ? ownReads(old, caller) : refused(['/api/v2/project/', '/api/v2/dataset/'], own)),
    ...(admin === undefined ? adminReads(old) : refused(['/admin/v2/project/'], admin)),
  ];
}
