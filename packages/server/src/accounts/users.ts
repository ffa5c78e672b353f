/** What can be done with accounts, and what is refused. */
import { covers, type User, type UserCreate, type UserProfileInfo, type UserUpdate } from '@service/contract';

import { changes, type Entry, ifChanged, record } from '../audit/index.ts';
import { brokenConstraint, type Database } from '../db/index.ts';
import { type Acting, type Origin, refuse } from '../http/index.ts';
import { hashPassword, passwordProblem } from './passwords.ts';
import * as groups from './store/groups.ts';
import * as resources from './store/resources.ts';
import { endSessions } from './store/tokens.ts';
import * as store from './store/users.ts';

const NO_USER = 'There is no user with this id.';
const NO_PROFILE = 'There is no profile with this id.';
const GUEST_AND_SUPERUSER = 'An account cannot be both guest and superuser. Change both flags in one request.';
const LAST_ADMINISTRATOR = 'This is the last active superuser. Make another account superuser first.';

function checkPasswordRules(password: string, code: string): void {
  const reason = passwordProblem(password);
  if (reason !== undefined) throw refuse(400, { code, reason });
}

export async function readUser(db: Database, userId: number): Promise<User> {
  const user = await store.findUser(db, userId);
  if (!user) throw refuse(404, NO_USER);
  return user;
}

interface Flags {
  is_superuser?: boolean;
  is_verified?: boolean;
}

/** Creates an account. Flags other than `is_guest` come from us, never from the request. */
export async function register(
  db: Database,
  by: Origin,
  request: UserCreate,
  defaultGroup: string | null,
  flags: Flags = {},
): Promise<User> {
  const { email, project_dirs, slurm_accounts, profile_id, is_guest } = request;
  checkPasswordRules(request.password, 'REGISTER_INVALID_PASSWORD');
  if (await store.findCredentials(db, email)) throw refuse(400, 'REGISTER_USER_ALREADY_EXISTS');
  const hashed_password = await hashPassword(request.password);
  const user = { email, project_dirs, slurm_accounts, profile_id, is_guest, hashed_password, ...flags };
  try {
    const id = await db.transaction().execute(async (trx) => {
      const userId = await store.insertUser(trx, user, defaultGroup);
      const details = { ...flags, is_guest, profile_id, project_dirs };
      await record(trx, by, { action: 'user.create', object: ['user', userId, email], details });
      return userId;
    });
    return await readUser(db, id);
  } catch (error) {
    const constraint = brokenConstraint(error);
    if (constraint === 'users_email_unique') throw refuse(400, 'REGISTER_USER_ALREADY_EXISTS');
    if (constraint === 'users_profile') throw refuse(404, NO_PROFILE);
    throw error;
  }
}

/** The flags of an account after a change, with the rules that look at both. */
function flagsAfter(before: User, change: UserUpdate) {
  const emailChanges = change.email !== undefined && change.email !== before.email;
  const after = {
    is_active: change.is_active ?? before.is_active,
    is_superuser: change.is_superuser ?? before.is_superuser,
    is_guest: change.is_guest ?? before.is_guest,
    is_verified: change.is_verified ?? (emailChanges ? false : before.is_verified),
  };
  if (after.is_guest && after.is_superuser) throw refuse(422, GUEST_AND_SUPERUSER);
  return after;
}

/** The folders that new ones no longer cover. */
const removedDirs = (before: string[], after: string[]) =>
  before.filter((old) => !after.some((dir) => covers(dir, old)));

/** Nobody loses the folder under a dataset of theirs. */
function checkProjectDirs(removed: string[], after: string[], zarrDirs: string[]): void {
  const lost = zarrDirs.find(
    (zarrDir) => removed.some((dir) => covers(dir, zarrDir)) && !after.some((dir) => covers(dir, zarrDir)),
  );
  if (lost !== undefined) {
    throw refuse(422, `The user has a dataset in ${lost}. Keep a folder above it among project_dirs.`);
  }
}

const isAdministrator = (user: { is_superuser: boolean; is_active: boolean }) => user.is_superuser && user.is_active;

const isDeactivated = (before: { is_active: boolean }, after: { is_active: boolean }) =>
  before.is_active && !after.is_active;

interface Updated {
  user: User;
  /** The counter for new sessions, where all sessions of before have ended. */
  generation?: number | undefined;
}

const RIGHTS = ['is_superuser', 'is_verified', 'is_active', 'is_guest', 'profile_id'] as const;
const OTHER_FIELDS = ['email', 'project_dirs', 'slurm_accounts'] as const;

/** What is written down about a change: rights, password and the rest are looked for separately. */
function entriesOf(before: User, after: User, newPassword: boolean): Entry[] {
  const object: Entry['object'] = ['user', before.id, before.email];
  return [
    ...ifChanged('user.rights', object, changes(before, after, RIGHTS)),
    ...(newPassword ? [{ action: 'user.password' as const, object }] : []),
    ...ifChanged('user.update', object, changes(before, after, OTHER_FIELDS)),
  ];
}

/** Changes an account. `own`: a person changes the own one, which keeps the tokens made for programs. */
export async function update(
  db: Database,
  by: Origin,
  userId: number,
  change: UserUpdate,
  { defaultGroup, own }: { defaultGroup: string | null; own: boolean },
): Promise<Updated> {
  const mayLoseAdministrator = change.is_superuser === false || change.is_active === false;
  const hashed_password =
    change.password !== undefined && passwordProblem(change.password) === undefined
      ? await hashPassword(change.password)
      : undefined;
  try {
    return await db.transaction().execute(async (trx) => {
      if (mayLoseAdministrator) await store.lockAdministrators(trx);
      await store.lockUser(trx, userId);
      const before = await store.findUser(trx, userId);
      if (!before) throw refuse(404, NO_USER);
      if (change.profile_id != null && !(await resources.findProfile(trx, change.profile_id)))
        throw refuse(404, NO_PROFILE);
      const removed = change.project_dirs ? removedDirs(before.project_dirs, change.project_dirs) : [];
      if (removed.length > 0) checkProjectDirs(removed, change.project_dirs!, await store.zarrDirsOf(trx, userId));
      const after = flagsAfter(before, change);
      if (change.password !== undefined) checkPasswordRules(change.password, 'UPDATE_USER_INVALID_PASSWORD');
      if (isAdministrator(before) && !isAdministrator(after) && !(await store.otherAdministratorExists(trx, userId))) {
        throw refuse(422, LAST_ADMINISTRATOR);
      }
      const { password: _, ...columns } = change;
      await store.updateUser(trx, userId, {
        ...columns,
        ...after,
        ...(hashed_password === undefined ? {} : { hashed_password }),
      });
      const generation = await endSessions(trx, userId, {
        sessions: hashed_password !== undefined || isDeactivated(before, after),
        personal: isDeactivated(before, after) || !own,
      });
      const changed = (await store.findUser(trx, userId))!;
      await record(trx, by, entriesOf(before, changed, hashed_password !== undefined));
      return { user: await store.withGroups(trx, changed, defaultGroup), generation };
    });
  } catch (error) {
    const constraint = brokenConstraint(error);
    if (constraint === 'users_email_unique') throw refuse(400, 'UPDATE_USER_EMAIL_ALREADY_EXISTS');
    if (constraint === 'users_profile') throw refuse(404, NO_PROFILE);
    if (constraint === 'users_guest_xor_superuser') throw refuse(422, GUEST_AND_SUPERUSER);
    throw error;
  }
}

/** Guest accounts may belong to everybody who visits. */
export function checkChangesItself(user: User): void {
  if (user.is_guest) throw refuse(403, 'Guest accounts cannot change themselves. Ask an administrator.');
}

export const signOutEverywhere = (db: Database, by: Origin, userId: number): Promise<void> =>
  db.transaction().execute(async (trx) => {
    const user = await store.findUser(trx, userId);
    if (!user) throw refuse(404, NO_USER);
    await endSessions(trx, userId, { sessions: true, personal: true });
    await record(trx, by, { action: 'user.sign_out', object: ['user', user.id, user.email] });
  });

export async function updateSelf(
  db: Database,
  by: Acting,
  change: { slurm_accounts?: string[] | undefined },
  defaultGroup: string | null,
): Promise<User> {
  const { user } = by;
  checkChangesItself(user);
  const { slurm_accounts } = change;
  if (slurm_accounts) {
    await db.transaction().execute(async (trx) => {
      await store.updateUser(trx, user.id, { slurm_accounts });
      await record(trx, by, entriesOf(user, { ...user, slurm_accounts }, false));
    });
  }
  return store.withGroups(db, await readUser(db, user.id), defaultGroup);
}

/** The groups of one state of an account that the other has not. */
const membershipEntries = (
  action: 'group.add_member' | 'group.remove_member',
  { email }: User,
  one: User,
  other: User,
): Entry[] => {
  const known = new Set(other.group_ids_names?.map(([id]) => id));
  const missing = (one.group_ids_names ?? []).filter(([id]) => !known.has(id));
  return missing.map(([id, name]) => ({ action, object: ['group', id, name], details: { user: email } }));
};

/** Replaces the groups of an account; the default group must stay among them. */
export async function setGroups(
  db: Database,
  by: Origin,
  userId: number,
  groupIds: number[],
  defaultGroup: string | null,
): Promise<User> {
  return db.transaction().execute(async (trx) => {
    if (!(await store.lockUser(trx, userId))) throw refuse(404, NO_USER);
    const known = await groups.knownGroupIds(trx, groupIds);
    if (known.length < groupIds.length) throw refuse(404, 'There is no group with one of these ids.');
    if (defaultGroup !== null) {
      const defaultId = await groups.groupIdOf(trx, defaultGroup);
      if (defaultId === undefined) throw refuse(404, missingDefaultGroup(defaultGroup));
      if (!groupIds.includes(defaultId))
        throw refuse(422, `Everybody stays in the group ${defaultGroup}. Add it to the list.`);
    }
    const user = (await store.findUser(trx, userId))!;
    const before = await store.withGroups(trx, user, defaultGroup);
    await store.replaceGroups(trx, userId, groupIds);
    const after = await store.withGroups(trx, user, defaultGroup);
    await record(trx, by, [
      ...membershipEntries('group.remove_member', user, before, after),
      ...membershipEntries('group.add_member', user, after, before),
    ]);
    return after;
  });
}

export const missingDefaultGroup = (name: string) =>
  `The default group ${name} does not exist. An administrator creates it with: servicectl init-db-data`;

/** What people may know of the resource they work on, which only administrators can read. */
export async function profileInfo(db: Database, userId: number): Promise<UserProfileInfo> {
  const info = await store.profileInfo(db, userId);
  if (!info) {
    return {
      has_profile: false,
      resource_name: null,
      profile_name: null,
      username: null,
      resource_id: null,
      resource_type: null,
      prevent_new_submissions: null,
      python_versions: [],
      default_python_version: null,
      pixi_versions: [],
    };
  }
  const { tasks_python_config: python, tasks_pixi_config: pixi, ...names } = info;
  return {
    has_profile: true,
    ...names,
    python_versions: Object.keys((python['versions'] as object | undefined) ?? {}),
    default_python_version: (python['default_version'] as string | undefined) ?? null,
    pixi_versions: Object.keys((pixi['versions'] as object | undefined) ?? {}),
  };
}
