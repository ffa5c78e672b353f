/**
 * Whose account installs a package and runs what it brings: the person's own on a cluster, where sudo lets the service be that
 * person; else the one that the resource or a setting names; else that of the service.
 */
import { lstat } from 'node:fs/promises';

import type { Profile, Resource } from '@service/contract';

import { type AccountHost, AccountProblem, type Host, isClosedPath, localHost, unlessGone } from '../hosts/index.ts';
import { collectionProblem, type RunAs } from '../run-as/index.ts';

export interface Collector {
  /** Undefined for the account of the service. */
  account: AccountHost | undefined;
  /** Why it cannot begin, if it cannot; it says what to do. */
  problem: string | undefined;
}

interface Where {
  resource: Resource;
  profile: Profile | undefined;
}

/** Everybody's jobs read what is installed. */
const READABLE_FOLDER = 0o2755;

const personOf = async (runAs: RunAs, { resource, profile }: Where): Promise<AccountHost | undefined> =>
  resource.type === 'slurm_sudo' && profile?.username ? runAs.person(profile.username) : undefined;

async function named(runAs: RunAs, resource: Resource): Promise<Collector> {
  const name = runAs.nameFor(resource);
  if (name === undefined) return { account: undefined, problem: undefined };
  try {
    return { account: await runAs.host(name, 'collections'), problem: undefined };
  } catch (error) {
    if (!(error instanceof AccountProblem)) throw error;
    return { account: undefined, problem: `Packages can't be collected here. ${error.message}` };
  }
}

/** Of what is only looked at, such as an interpreter that somebody names. */
export async function lookerFor(runAs: RunAs | undefined, where: Where): Promise<Collector> {
  if (!runAs || where.resource.type === 'slurm_ssh') return { account: undefined, problem: undefined };
  const person = await personOf(runAs, where);
  return person ? { account: person, problem: undefined } : named(runAs, where.resource);
}

/** Of a package that is to be installed in the folder `path`. */
export async function collectorFor(
  runAs: RunAs | undefined,
  where: Where,
  { path, python }: { path: string; python: string },
): Promise<Collector> {
  const { resource } = where;
  if (!runAs || resource.type === 'slurm_ssh') return { account: undefined, problem: undefined };
  const person = await personOf(runAs, where);
  if (person && (await collectionProblem(person, { path, python })) === undefined) {
    return { account: person, problem: undefined };
  }
  const found = await named(runAs, resource);
  if (!found.account) return found;
  await found.account.makeOwn(resource.tasks_local_dir, READABLE_FOLDER);
  return { ...found, problem: await collectionProblem(found.account, { path, python }) };
}

/** Commands with the rights of an account, on files that are the service's own. */
const onOwnFiles = ({ run, signal, endLeftOver }: AccountHost): Host => ({ ...localHost, run, signal, endLeftOver });

/**
 * Who works with the folder of a task group: whoever it belongs to. In one of the service, the account runs what the package
 * brings and the service removes files; but only where nobody else can have put another folder in its place.
 */
export async function keeperFor(
  runAs: RunAs,
  where: Where,
  path: string,
): Promise<{ host: Host; account: AccountHost | undefined }> {
  const person = await personOf(runAs, where);
  const { account } = await named(runAs, where.resource);
  const uid = (await unlessGone(lstat(path)))?.uid;
  const owner = [person, account].find((one) => one?.account.uid === uid);
  if (owner) return { host: owner, account: owner };
  const runs = account ?? person;
  if (!runs) return { host: localHost, account: runs };
  return { host: (await isClosedPath(path)) ? onOwnFiles(runs) : runs, account: runs };
}
