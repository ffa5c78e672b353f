/**
 * Who may look into the data folder: the account of the service. Where other accounts run the tasks, they pass through it to
 * the folders that are for them, and see nothing of the others.
 */
import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { type Settings, SettingsError } from './settings/index.ts';

/** For people too: what jobs write, what they run, and where images are. */
const SHARED = new Set(['jobs', 'tasks', 'projects', 'demo']);
/** Made at the start, so that none of them is ever open. */
const PRIVATE = ['running-jobs', 'secrets', 'uploads', 'uv', 'warm'];

/** What another account uses of it: it enters those whose names it is told, and runs the installer. */
const FOR_ACCOUNTS = { 'running-jobs': 0o711, warm: 0o711, uv: 0o755 };

const STICKY = 0o1000;
const OF_OTHERS = 0o077;

/** A folder that belongs to somebody else, or to everybody such as /tmp, is left as it is. */
function isOurs(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  return uid === process.getuid?.() && (mode & STICKY) === 0;
}

function close(path: string): void {
  const entry = lstatSync(path);
  if (!entry.isSymbolicLink() && (entry.mode & OF_OTHERS) !== 0) chmodSync(path, entry.mode & 0o700);
}

/** Lets accounts that run what people bring pass to the folders that they use. What else is in it stays closed. */
export function openForAccounts(folder: string): void {
  if (!isOurs(folder)) return;
  chmodSync(folder, 0o711);
  for (const [name, mode] of Object.entries(FOR_ACCOUNTS)) chmodSync(join(folder, name), mode);
}

/** Tasks of another account may still run, and must not lose their way when the service starts again. */
function wasOpened(folder: string): boolean {
  const jobs = join(folder, 'running-jobs');
  return existsSync(jobs) && (statSync(jobs).mode & 0o777) === FOR_ACCOUNTS['running-jobs'];
}

/** Makes the data folder, or corrects who may look into one that is there. */
export function prepareDataFolder({ start, app }: Settings): void {
  const folder = start.SERVICE_DATA_DIR;
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    if (!isOurs(folder)) return;
    const isOpened = app.SERVICE_TASKS_ACCOUNT !== null || wasOpened(folder);
    chmodSync(folder, isOpened || app.SERVICE_RUNNER_BACKEND === 'slurm_sudo' ? 0o711 : 0o700);
    for (const name of PRIVATE) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    for (const name of readdirSync(folder)) {
      if (!SHARED.has(name) && !(isOpened && name in FOR_ACCOUNTS)) close(join(folder, name));
    }
    if (isOpened) openForAccounts(folder);
  } catch (error) {
    throw new SettingsError(
      `SERVICE_DATA_DIR (${folder}) must be a folder this account can write to: ${(error as Error).message}`,
      { cause: error },
    );
  }
}
