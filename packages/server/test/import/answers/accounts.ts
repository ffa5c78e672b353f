/** People, groups, resources and profiles, as an existing server tells of them. */
import { adminRefusalOf, anyOrder, exactly, type Read, refused } from './expected.ts';
import {
  byId,
  type Caller,
  DEFAULT_GROUP,
  groupIdsOf,
  type Old,
  pick,
  resourceOf,
  type Row,
  sorted,
  zulu,
} from './old.ts';

function groupsOf(old: Old, user: Row): [number, string][] {
  const own = old.memberships.filter((one) => one['user_id'] === user['id']);
  const named = own.map((one) => ({ ...one, name: byId(old.groups, one['group_id'])!['name'] as string }));
  return sorted(
    named as Row[],
    (one) => one['name'] !== DEFAULT_GROUP,
    (one) => one['timestamp_created'] as string,
    (one) => one['group_id'] as number,
  ).map((one) => [one['group_id'] as number, one['name'] as string]);
}

const userAnswer = (old: Old, user: Row, withGroups: boolean) => ({
  ...pick(user, 'id', 'email', 'is_active', 'is_superuser', 'is_verified', 'is_guest', 'profile_id', 'project_dirs'),
  slurm_accounts: (user['slurm_accounts'] ?? []) as string[],
  group_ids_names: withGroups ? groupsOf(old, user) : null,
  oauth_accounts: old.oauth
    .filter((one) => one['user_id'] === user['id'])
    .map((one) => pick(one, 'id', 'account_email', 'oauth_name')),
});

const groupAnswer = (old: Old, group: Row, withUsers: boolean) => ({
  ...pick(group, 'id', 'name', 'timestamp_created'),
  user_ids: withUsers
    ? anyOrder(old.memberships.filter((one) => one['group_id'] === group['id']).map((one) => one['user_id'] as number))
    : null,
});

const CONFIGURATIONS = ['jobs_runner_config', 'tasks_python_config', 'tasks_pixi_config'];

const resourceAnswer = (resource: Row) => ({
  ...resource,
  timestamp_created: zulu(resource['timestamp_created'] as string),
  ...Object.fromEntries(CONFIGURATIONS.map((name) => [name, exactly(resource[name])])),
});

function profileInfo(old: Old, user: Caller) {
  const profile = byId(old.profiles, user['profile_id']);
  return {
    has_profile: profile !== undefined,
    resource_name: byId(old.resources, resourceOf(old, user))?.['name'] ?? null,
    profile_name: profile?.['name'] ?? null,
    username: profile?.['username'] ?? null,
  } as object;
}

function sharedFolders(old: Old, user: Caller): string[] {
  const projects = old.links
    .filter((link) => link['user_id'] === user['id'] && link['is_verified'])
    .map((link) => link['project_id'] as number);
  const folders = old.datasets.filter((one) => projects.includes(one['project_id'] as number));
  return [...new Set(folders.map((one) => one['zarr_dir'] as string))];
}

function ownReads(old: Old, caller: Caller): Read[] {
  const status = caller['is_active'] ? 200 : 401;
  const folders = caller['project_dirs'] as string[];
  const viewer = '/auth/current-user/allowed-viewer-paths/';
  const read = (path: string, answer: unknown): Read => (status === 200 ? { path, status, answer } : { path, status });
  const viewing = caller['is_active'] && !caller['is_verified'] ? 403 : status;
  return [
    read('/auth/current-user/', userAnswer(old, caller, false)),
    read('/auth/current-user/?group_ids_names=true', userAnswer(old, caller, true)),
    read('/auth/current-user/profile-info/', profileInfo(old, caller)),
    ...(viewing === 200
      ? [
          { path: `${viewer}?include_shared_projects=false`, status: 200, answer: folders },
          { path: viewer, status: 200, answer: anyOrder([...folders, ...sharedFolders(old, caller)]) },
        ]
      : refused([viewer], viewing)),
  ];
}

const csvLine = (cells: string[]) =>
  cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',');

function usersCsv(old: Old): string[] {
  const people = sorted(
    old.users.filter((user) => user['profile_id'] !== null),
    (user) => user['email'] as string,
  );
  return people.map((user) =>
    csvLine([
      String(user['id']),
      user['email'] as string,
      (byId(old.profiles, user['profile_id'])!['username'] ?? '') as string,
      ((user['slurm_accounts'] ?? []) as string[]).join('|'),
      (user['project_dirs'] as string[]).join('|'),
      groupIdsOf(old, user)
        .map((id) => byId(old.groups, id)!['name'] as string)
        .sort()
        .join('|'),
      String(old.jobs.filter((job) => job['user_email'] === user['email']).length),
    ]),
  );
}

/** The answer is a table; the names of groups in a cell have no order. */
export const csvAnswer = (text: string): string[] =>
  text
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((line) => line.replace(/(?<=,)[^,]*(?=,\d+$)/, (groups) => groups.split('|').sort().join('|')));

function adminReads(old: Old): Read[] {
  const ok = (path: string, answer: unknown): Read => ({ path, status: 200, answer });
  const profiles = (id: unknown) => old.profiles.filter((one) => one['resource_id'] === id);
  return [
    ok('/auth/users/', anyOrder(old.users.map((user) => userAnswer(old, user, false)))),
    ...old.users.map((user) => ok(`/auth/users/${user['id']}/`, userAnswer(old, user, true))),
    ...old.profiles.map(({ id }) =>
      ok(
        `/auth/users/?profile_id=${id}`,
        anyOrder(old.users.filter((user) => user['profile_id'] === id).map((user) => userAnswer(old, user, false))),
      ),
    ),
    ok(
      '/auth/group/',
      old.groups.map((group) => groupAnswer(old, group, false)),
    ),
    ok(
      '/auth/group/?user_ids=true',
      old.groups.map((group) => groupAnswer(old, group, true)),
    ),
    ...old.groups.map((group) => ok(`/auth/group/${group['id']}/`, groupAnswer(old, group, true))),
    ok('/admin/v2/resource/', old.resources.map(resourceAnswer)),
    ...old.resources.flatMap((resource) => [
      ok(`/admin/v2/resource/${resource['id']}/`, resourceAnswer(resource)),
      ok(`/admin/v2/resource/${resource['id']}/profile/`, profiles(resource['id'])),
    ]),
    ok('/admin/v2/profile/', old.profiles),
    ...old.profiles.map((profile) => ok(`/admin/v2/profile/${profile['id']}/`, profile)),
    ok('/admin/v2/users-csv/', usersCsv(old)),
    { path: '/auth/users/999999/', status: 404 },
    { path: '/auth/group/999999/', status: 404 },
  ];
}

export function accountReads(old: Old, caller: Caller): Read[] {
  const status = adminRefusalOf(caller);
  const admin = status === undefined ? adminReads(old) : refused(['/auth/users/', '/admin/v2/resource/'], status);
  return [...ownReads(old, caller), ...admin];
}
