/**
 * Tasks of a package that somebody installed by hand: the service is told where interpreter and package are, and how the
 * tasks look. Nothing is installed.
 */
import { access, constants, stat } from 'node:fs/promises';

import type { CollectCustom, Task, User } from '@service/contract';

import { usableProfile } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import { type AccountHost, type Host, localHost } from '../hosts/index.ts';
import { refuse } from '../http/index.ts';
import type { RunAs } from '../run-as/index.ts';
import { lookerFor } from './collector.ts';
import { ManifestProblem, tasksOfManifest } from './manifest.ts';
import { createGroupOfTasks } from './tasks.ts';
import { chooseUserGroup, type Visibility } from './visibility.ts';

const LOOKUP_MS = 20_000;
/** Far more than a path. */
const MOST_OUTPUT = 64 * 1024;

/** Prints the folder of a package; a module in a single file has none. */
const LOOKUP = `
import importlib.util, os, sys
spec = importlib.util.find_spec(sys.argv[1])
if spec is None or os.path.basename(spec.origin or "") != "__init__.py":
    sys.exit("no package of this name")
print(os.path.dirname(os.path.abspath(spec.origin)))
`;

/** Where the interpreter finds a package, or nothing. A user names the program, so it gets an end. */
export async function findPackage(
  python: string,
  name: string,
  limitMs = LOOKUP_MS,
  host: Host = localHost,
): Promise<string | undefined> {
  const tooMuch = new AbortController();
  const signal = AbortSignal.any([AbortSignal.timeout(limitMs), tooMuch.signal]);
  let printed = '';
  const onOutput = (text: string, from: 'stdout' | 'stderr') => {
    if (from === 'stdout' && printed.length <= MOST_OUTPUT) printed += text;
    if (printed.length > MOST_OUTPUT) tooMuch.abort();
  };
  try {
    const { code } = await host.run([python, '-c', LOOKUP, name.replaceAll('-', '_')], { onOutput, signal });
    const lines = printed.trim().split('\n');
    return code === 0 && lines.length === 1 && lines[0]!.startsWith('/') ? lines[0] : undefined;
  } catch {
    return undefined;
  }
}

async function allows(path: string, mode: number, kind: 'isFile' | 'isDirectory'): Promise<boolean> {
  try {
    await access(path, mode);
    return (await stat(path))[kind]();
  } catch {
    return false;
  }
}

async function requireInterpreter(path: string, account: AccountHost | undefined): Promise<void> {
  const isThere = account
    ? (await account.obstacle({ runs: [path] })) === undefined
    : await allows(path, constants.R_OK | constants.X_OK, 'isFile');
  if (isThere) return;
  const who = account ? `the account ${account.account.name}` : 'the service';
  throw refuse(422, `${path} is not a program that ${who} can run. Check python_interpreter and its permissions.`);
}

async function packageRootOf(
  { package_root, package_name, python_interpreter }: CollectCustom,
  account: AccountHost | undefined,
): Promise<string> {
  if (package_root !== null) {
    if (await allows(package_root, constants.R_OK, 'isDirectory')) return package_root;
    throw refuse(422, `${package_root} is not a folder that the service can read. Check package_root.`);
  }
  const found = await findPackage(python_interpreter, package_name!, LOOKUP_MS, account);
  if (found !== undefined) return found;
  throw refuse(422, `${python_interpreter} finds no package ${package_name}. Install it, or give its package_root.`);
}

interface CustomParts {
  db: Database;
  defaultGroup: string | null;
  /** Whose accounts run what people bring. */
  runAs: RunAs;
}

export async function collectCustom(
  { db, defaultGroup, runAs }: CustomParts,
  user: User,
  visibility: Visibility,
  body: CollectCustom,
): Promise<Task[]> {
  const where = await usableProfile(db, user);
  const { resource } = where;
  const user_group_id = await chooseUserGroup(db, user, visibility, defaultGroup);
  let packageRoot = body.package_root;
  if (resource.type !== 'slurm_ssh') {
    const { account, problem } = await lookerFor(runAs, where);
    if (problem !== undefined) throw refuse(422, problem);
    await requireInterpreter(body.python_interpreter, account);
    packageRoot = await packageRootOf(body, account);
  }
  // the other machine is not asked
  if (packageRoot === null) throw refuse(422, 'On a resource that is reached by SSH, give package_root.');
  const { label: pkg_name, version, manifest, python_interpreter: python } = body;
  try {
    const tasks = tasksOfManifest(manifest, { python, packageRoot, version });
    const group = { user_id: user.id, user_group_id, resource_id: resource.id, pkg_name, version };
    return await createGroupOfTasks(db, group, tasks);
  } catch (error) {
    throw error instanceof ManifestProblem ? refuse(422, error.message) : error;
  }
}
