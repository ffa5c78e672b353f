/** The folders of a job: made before its first task, tidied up after its last. */
import { chmod, mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { AccountHost } from '../../hosts/index.ts';
import type { Logger } from '../../logging/index.ts';
import type { Runner } from '../../runners/index.ts';
import { archiveJob, makeJobFolder } from '../files/index.ts';
import type { RunningJob } from '../store/execution.ts';

/** Of the account that runs the tasks, and of the service, which is in its group or root. */
const OWN_FOLDER = 0o2770;
/** The folders in it have names that the account is told. */
const PASSABLE = 0o710;

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

/** What is in the way, if anything is. The service's own folder comes first: where it is, the job has begun before. */
export async function prepareFolders(
  { working_dir, service_folder, snapshot }: RunningJob,
  account: AccountHost | undefined,
): Promise<string | undefined> {
  try {
    if (!(await exists(service_folder))) {
      if (await exists(working_dir)) return `The folder of the job exists already: ${working_dir}`;
      await mkdir(service_folder, { recursive: true });
      if (snapshot.cluster?.type === 'slurm_sudo') await openForPerson(service_folder);
    }
    // also for one whose first attempt ended right here
    await account?.share(service_folder, PASSABLE);
    if (account) await makeJobFolder(dirname(working_dir));
    if (account) await account.makeOwn(working_dir, OWN_FOLDER);
    else await makeJobFolder(working_dir);
    return undefined;
  } catch (error) {
    return `The folder of the job could not be made: ${(error as Error).message}`;
  }
}

/** The account that runs the tasks reads its inputs there; who does not know the name of the folder does not find it. */
async function openForPerson(folder: string): Promise<void> {
  await chmod(dirname(folder), 0o711);
  await chmod(folder, 0o755);
}

/** What a job leaves when it has ended: no processes, a zip, no files of the service. */
interface Ended {
  job: RunningJob;
  runner: Runner;
  account: AccountHost | undefined;
}

/** What the account wrote it removes itself; the folders around that are the service's. */
async function removeServiceFolder({ job: { service_folder }, account }: Ended): Promise<void> {
  if (!account) return rm(service_folder, { recursive: true, force: true });
  const names = await readdir(service_folder);
  await account.removeShared(...names.map((name) => join(service_folder, name)));
  await rmdir(service_folder);
}

export async function tidyUp(ended: Ended, log: Logger): Promise<void> {
  const { job, runner } = ended;
  // a job that never began has no files; what lies where its folder was to be is somebody else's
  if (!(await exists(job.service_folder))) return;
  try {
    await runner.end(job.service_folder);
  } catch (error) {
    log.error(`What runs of job ${job.id} could not be ended`, error);
  }
  try {
    await archiveJob(job.working_dir);
  } catch (error) {
    log.warning(`The folder of job ${job.id} could not be zipped: ${(error as Error).message}`);
  }
  await removeServiceFolder(ended);
}
