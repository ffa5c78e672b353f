/** What a fresh database needs before anybody can work: a group, an administrator, a resource with a profile. */
import { execFileSync } from 'node:child_process';

import {
  isSupportedPython,
  PYTHONS,
  ProfileWrite,
  readEmail,
  readProjectDir,
  readValue,
  ResourceWrite,
  UserCreate,
} from '@service/contract';
import { ServiceError } from '@service/contract/errors';

import { type Entry, record } from '../audit/index.ts';
import type { Database } from '../db/index.ts';
import { type Origin, Refusal } from '../http/index.ts';
import * as groups from './store/groups.ts';
import * as resources from './store/resources.ts';
import * as store from './store/users.ts';
import { register } from './users.ts';

/** Data that cannot be used; the message says what to change. */
class UnusableData extends ServiceError {
  readonly kind = 'unusable-data';
  readonly of: 'administrator' | 'resource' | 'profile';

  constructor(of: UnusableData['of'], message: string) {
    super(message);
    this.of = of;
  }
}

export async function ensureDefaultGroup(db: Database, by: Origin, name: string | null): Promise<void> {
  if (name === null) return;
  await db.transaction().execute(async (trx) => {
    const id = await groups.ensureGroup(trx, name);
    if (id !== undefined) await record(trx, by, { action: 'group.create', object: ['group', id, name] });
  });
}

interface Administrator {
  email: string;
  password: string;
  projectDir: string;
}

/** Says which of the three is not usable, before anything is written. */
function checkedAdministrator({ email, password, projectDir }: Administrator): UserCreate {
  const read = readValue(UserCreate, { email, password, project_dirs: [projectDir] }, 'administrator');
  if ('value' in read) return read.value;
  const where =
    'problem' in readEmail(email) ? 'e-mail' : 'problem' in readProjectDir(projectDir) ? 'project folder' : '';
  throw new UnusableData(
    'administrator',
    `The administrator's ${where || 'data'} cannot be used: ${read.entries[0]!.msg}`,
  );
}

type AdministratorOutcome = 'created' | 'superuser exists' | 'e-mail taken';

/** Creates the first administrator; does nothing where there is a superuser already. */
export async function createAdministrator(
  db: Database,
  by: Origin,
  administrator: Administrator,
  defaultGroup: string | null,
): Promise<AdministratorOutcome> {
  const user = checkedAdministrator(administrator);
  if (await store.superuserExists(db)) return 'superuser exists';
  try {
    await register(db, by, user, defaultGroup, { is_superuser: true, is_verified: true });
    return 'created';
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    const { detail } = refusal.body;
    if (detail === 'REGISTER_USER_ALREADY_EXISTS') return 'e-mail taken';
    const { reason } = detail as { reason: string };
    throw new UnusableData('administrator', `The administrator cannot be created: ${reason}`);
  }
}

interface Python {
  version: string;
  path: string;
}

/** The Python that the command `python3` starts, if the service can use it. */
export function findPython(): Python | undefined {
  const script = 'import sys; print("%d.%d" % sys.version_info[:2]); print(sys.executable)';
  const candidates = ['python3', ...PYTHONS.map((version) => `python${version}`).reverse()];
  for (const command of candidates) {
    try {
      const output = execFileSync(command, ['-c', script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
      const [version, path] = output.trim().split('\n');
      if (version && path && isSupportedPython(version)) return { version, path };
    } catch {
      // not there
    }
  }
  return undefined;
}

export const defaultResource = (folders: { jobs: string; tasks: string }, python: Python) => ({
  type: 'local',
  name: 'Local resource',
  jobs_local_dir: folders.jobs,
  tasks_local_dir: folders.tasks,
  jobs_runner_config: {},
  jobs_poll_interval: 0,
  tasks_python_config: { default_version: python.version, versions: { [python.version]: python.path } },
  tasks_pixi_config: {},
});

export const defaultProfile = { resource_type: 'local', name: 'Local profile' };

function validated<T>(what: 'resource' | 'profile', outcome: ReturnType<typeof readValue<T>>): T {
  if ('value' in outcome) return outcome.value;
  const { loc, msg } = outcome.entries[0]!;
  throw new UnusableData(what, `The ${what} is not valid at ${loc.slice(1).join('.') || 'its top level'}: ${msg}`);
}

const ofUser = ({ id, email }: { id: number; email: string }): Entry['object'] => ['user', id, email];

/** Stores the first resource with its profile, and gives the profile to everybody. */
export async function createResourceAndProfile(
  db: Database,
  by: Origin,
  resourceData: unknown,
  profileData: unknown,
): Promise<void> {
  const resource = validated('resource', readValue(ResourceWrite, resourceData, 'resource'));
  const profile = validated('profile', readValue(ProfileWrite, profileData, 'profile'));
  if (resource.type !== profile.resource_type) {
    throw new UnusableData(
      'profile',
      `The profile is for "${profile.resource_type}", but the resource is "${resource.type}".`,
    );
  }
  await db.transaction().execute(async (trx) => {
    if ((await resources.countResources(trx)) > 0)
      throw new UnusableData('resource', 'The database has a resource already.');
    const { id } = await resources.insertResource(trx, resource);
    const stored = await resources.insertProfile(trx, id, profile);
    const people = await resources.giveProfileToAll(trx, stored.id);
    const details = { profile_id: { from: null, to: stored.id } };
    await record(trx, by, [
      { action: 'resource.create', object: ['resource', id, resource.name], details: { type: resource.type } },
      { action: 'profile.create', object: ['profile', stored.id, stored.name], details: { resource: resource.name } },
      ...people.map((user) => ({ action: 'user.rights' as const, object: ofUser(user), details })),
    ]);
  });
}
