/**
 * This machine as another account of it: commands, processes and files, all with the rights of that account alone.
 *
 *     const host = accountHost(await findAccount('tasks'));
 *     await host.run(['pip', 'install', '…']);
 *
 * Root starts its commands with the account's ids; an ordinary account goes through sudo. Either way a file that the account
 * has turned into a link leads no further than the account gets by itself.
 */
import { chmod, chown, lstat, mkdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { type Account, isRoot, lookUpAccount } from './accounts.ts';
import { capture } from './capture.ts';
import { environmentOfAccount } from './environment.ts';
import type { Commands, Host } from './host.ts';
import { type Identity, isRunning, launchAs, runAs } from './local.ts';
import { unlessGone } from './reading.ts';
import { createFiles } from './ssh/files.ts';
import { createProcesses } from './ssh/processes.ts';
import { sudoAccount } from './sudo-account.ts';

export interface AccountHost extends Host {
  account: Account;
  /** Lets the account's group use what the service has made, in a folder that only the service writes to. */
  share(path: string, mode: number): Promise<void>;
  /** Makes a folder that belongs to the account, in one of the service. What is there already stays as it is. */
  makeOwn(path: string, mode: number): Promise<void>;
  /** Removes folders that the account wrote to, and that are in one of the service. */
  removeShared(...paths: string[]): Promise<void>;
  /** The first thing in the way of the account, if anything is. */
  obstacle(wanted: Wanted): Promise<Obstacle | undefined>;
}

interface Wanted {
  /** Paths, there or not yet, that it has to get to. */
  enters?: string[];
  /** Folders, there or not yet, that it has to write to. */
  writes?: string[];
  /** Programs that it has to run. */
  runs?: string[];
}

/** `enters`: a folder on the way that it can't enter; `writes`: the nearest folder there is, which it can't write to. */
export interface Obstacle {
  wanted: keyof Wanted;
  path: string;
  /** Where it is in the way. */
  at: string;
}

const OF_GROUP = 0o070;
/** A mount that does not answer is not waited for. */
const LONGEST_LOOK_MS = 60_000;

const asRoot = (identity: Identity): Pick<Host, 'run' | 'launch'> => ({
  run: (command, options) => runAs(identity, command, options),
  launch: (command, options) => launchAs(identity, command, options),
});

/** Takes pairs of what is wanted and where; prints the first pair that cannot be had, and what is in the way. */
const LOOK = `
found() { printf '%s\\0%s\\0%s' "$1" "$2" "$3"; exit 0; }
entered() {
  way=; rest=$1/
  while test -n "$rest"; do
    way=$way/\${rest%%/*}; rest=\${rest#*/}; way=\${way%/}
    test -z "$way" || test -x "$way" || ! test -d "$way" || { at=$way; return 1; }
  done
}
while test $# -gt 1; do
  entered "$(dirname -- "$2")" || found enters "$2" "$at"
  case $1 in
    enters) entered "$2" || found enters "$2" "$at";;
    writes) at=$2; while ! test -e "$at" && test "$at" != /; do at=$(dirname -- "$at"); done
      test -d "$at" && test -w "$at" && test -x "$at" || found writes "$2" "$at";;
    runs) test -f "$2" && test -x "$2" || found runs "$2" "$2";;
  esac
  shift 2
done`;

async function obstacle(commands: Commands, { enters = [], writes = [], runs = [] }: Wanted) {
  const pairs = Object.entries({ runs, enters, writes }).flatMap(([kind, paths]) => paths.map((path) => [kind, path]));
  const { code, stdout, stderr } = await capture(commands, ['/bin/sh', '-c', LOOK, 'sh', ...pairs.flat()], {
    timeoutMs: LONGEST_LOOK_MS,
  });
  if (code !== 0) throw new Error(`Folders cannot be looked at: ${stderr.trim()}`);
  const [wanted, path, at] = stdout.toString('utf8').split('\0');
  return at === undefined ? undefined : { wanted: wanted as keyof Wanted, path: path!, at };
}

export function accountHost(account: Account): AccountHost {
  const { uid, gid, name } = account;
  const identity = {
    uid,
    gid,
    environment: (options: { installs?: boolean }) => environmentOfAccount(account, options),
  };
  const commands = isRoot() ? asRoot(identity) : sudoAccount(account);

  const share = async (path: string, mode: number) => {
    await chown(path, process.getuid!(), gid);
    await chmod(path, mode);
  };

  /** A folder that somebody left half made has no other name than this. */
  async function makeDraft(path: string): Promise<string> {
    const draft = `${path}.new`;
    await mkdir(draft, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    return draft;
  }

  /** Where the account can't exchange it any more: what it has put there instead of its folder may lead anywhere. */
  async function takeOver(made: string, path: string): Promise<void> {
    const taken = `${path}.made`;
    const before = await unlessGone(lstat(taken));
    if (before && !before.isDirectory()) await unlink(taken);
    await rename(made, taken);
    const about = await lstat(taken);
    if (!about.isDirectory() || about.uid !== uid) {
      if (!about.isDirectory()) await unlink(taken);
      throw new Error(`${path} cannot be made as ${name}: it has put something else in the place of the folder.`);
    }
    await rename(taken, path);
  }

  /** Nobody can make a folder for somebody else but root: the account makes it, in a folder for this moment. */
  async function madeThroughSudo(path: string, mode: number): Promise<void> {
    const draft = await makeDraft(path);
    await share(draft, 0o2770);
    const made = join(draft, 'made');
    // both move it: that changes an entry inside
    const { code, stderr } = await capture(commands, ['mkdir', '-p', '-m', '2770', '--', made]);
    if (code !== 0) throw new Error(`${path} cannot be made as ${name}: ${stderr.trim()}`);
    await takeOver(made, path);
    if (mode !== 0o2770) await capture(commands, ['chmod', mode.toString(8), '--', path]);
    await rmdir(draft);
  }

  return {
    ...commands,
    ...createProcesses(commands, name),
    ...createFiles(commands, name),
    isAlive: (handle) => Promise.resolve(isRunning(handle)),
    account,
    share,
    async makeOwn(path, mode) {
      if (await unlessGone(lstat(path))) return;
      await mkdir(dirname(path), { recursive: true });
      if (!isRoot()) return madeThroughSudo(path, mode);
      const draft = await makeDraft(path);
      await chown(draft, uid, gid);
      await chmod(draft, mode);
      await rename(draft, path);
    },
    async removeShared(...paths) {
      const shared: string[] = [];
      for (const path of paths) {
        const about = await unlessGone(lstat(path));
        if (!about) continue;
        // where the service was interrupted before it let the account in, the account has nothing there
        if (about.uid === process.getuid?.() && (about.mode & OF_GROUP) === 0) await rm(path, { recursive: true });
        else shared.push(path);
      }
      if (shared.length === 0) return;
      // what is in them can be removed by the account alone; the folders themselves, by the service
      await capture(commands, ['rm', '-rf', '--', ...shared]);
      for (const path of shared) await unlessGone(rmdir(path));
    },
    obstacle: (wanted) => obstacle(commands, wanted),
  };
}

const owners = new Map<number, Promise<AccountHost | undefined>>();

/** This machine as the account that something belongs to; undefined for what is the service's own, root's or nobody's. */
export function hostOfOwner(uid: number): Promise<AccountHost | undefined> {
  if (uid === 0 || uid === process.getuid?.()) return Promise.resolve(undefined);
  const known = owners.get(uid) ?? lookUpAccount(String(uid)).then((account) => account && accountHost(account));
  owners.set(uid, known);
  // asked again where the machine could not say
  known.catch(() => owners.delete(uid));
  return known;
}
