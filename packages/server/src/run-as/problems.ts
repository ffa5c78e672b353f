/** What is in the way of an account, in words: what it can't reach, and the command that changes it. */
import { covers } from '@service/contract';

import type { AccountHost, Obstacle } from '../hosts/index.ts';

/** As it can be pasted into a shell. */
const quoted = (path: string) => (/^[\w@%+:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

const opening = ({ account: { gid } }: AccountHost, folder: string) =>
  `chgrp -R ${gid} ${quoted(folder)} && chmod -R g+rwX ${quoted(folder)}`;

function cannotReach({ account: { name } }: AccountHost, { wanted, path, at }: Obstacle): string {
  if (wanted === 'runs') {
    return (
      `The account ${name}, which runs tasks here, can't run ${path}. ` +
      'Name an interpreter in tasks_python_config that it can run, or give it the right to.'
    );
  }
  return `The account ${name}, which runs tasks here, can't get to ${path}. Run as root: chmod o+x ${quoted(at)}`;
}

const isFile = (path: string) => path.startsWith('/');

interface JobPlaces {
  jobs_local_dir: string;
  zarr_dir: string;
  /** Of the person who runs the job. */
  project_dirs: string[];
  python: string;
}

/** Why an account can't run a job; undefined when it can. */
export async function jobProblem(host: AccountHost, places: JobPlaces): Promise<string | undefined> {
  const { jobs_local_dir, zarr_dir, project_dirs, python } = places;
  const found = await host.obstacle({
    runs: isFile(python) ? [python] : [],
    enters: [jobs_local_dir],
    writes: isFile(zarr_dir) ? [zarr_dir] : [],
  });
  if (!found) return undefined;
  if (found.wanted !== 'writes') return cannotReach(host, found);
  const { name } = host.account;
  // the folder of the project is opened once for all datasets in it; what is above it is never opened
  const folder = project_dirs.find((dir) => covers(dir, zarr_dir)) ?? zarr_dir;
  const isThere = covers(folder, found.at);
  const command = isThere
    ? opening(host, folder)
    : `install -d -o ${name} -g ${host.account.gid} -m 2770 ${quoted(folder)}`;
  return `The account ${name}, which runs tasks here, can't write to ${found.at}, where the images are stored. Run as root: ${command}`;
}

/** Why an account can't collect a package into a folder; undefined when it can. */
export async function collectionProblem(
  host: AccountHost,
  { path, python }: { path: string; python: string },
): Promise<string | undefined> {
  const found = await host.obstacle({ runs: isFile(python) ? [python] : [], writes: [path] });
  if (!found) return undefined;
  if (found.wanted !== 'writes') return cannotReach(host, found);
  const { name } = host.account;
  return `The account ${name}, which collects packages here, can't write to ${found.at}. Run as root: ${opening(host, found.at)}`;
}
