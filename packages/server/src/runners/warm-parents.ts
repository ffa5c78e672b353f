/**
 * Warm parents: processes that have imported what tasks import, and from which workers have their units forked. There is one
 * for each account, interpreter and set of variables; it serves all batches of all jobs that agree in these.
 *
 * They live on their own (`worker/warm_parent.py`). Here they are started, their lease is renewed, they are counted, and the
 * ones that were idle for longest are ended when they take too much memory. Several processes of the service may do so.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { z } from 'zod';

import { guarded, ignored } from '../guard.ts';
import {
  type AccountHost,
  commandEnvironment,
  environmentOfAccount,
  type Host,
  hostOfOwner,
  type ProcessHandle,
  readEnd,
} from '../hosts/index.ts';
import { HAS_PROC } from '../processes.ts';
import { replace, SHARED_FOLDER, writeWorker } from './batch.ts';
import { livingHolder } from './lock.ts';
import { workerArchive } from './worker-archive.ts';

const RENEW_MS = 10_000;
const LEASE_SECONDS = 60;
const LONGEST_START_MS = 5000;
const LOOK_MS = 10;
const MOST_PARENTS = 32;
/** Of the memory of the machine, that is left for others. */
const LEFT_FREE = 0.1;
const FORGET_AFTER_MS = 3_600_000;
const LONGEST_STATE = 2 ** 20;

/** Commands that run alike: with these variables, in this folder. */
export interface Surroundings {
  environment: Record<string, string>;
  workingFolder: string;
}

export interface WarmParents {
  /** Where workers find the one for this command, whether or not it runs; undefined for what is no script of Python. */
  folderFor(command: string[], surroundings: Surroundings, account?: AccountHost): string | undefined;
  /** Has one running for each interpreter, and their scripts imported ahead. `python` runs the parents themselves. */
  importAhead(python: string, commands: string[][], surroundings: Surroundings, account?: AccountHost): Promise<void>;
  /** Has one running for this command. */
  ensure(python: string, command: string[], surroundings: Surroundings, account?: AccountHost): Promise<void>;
  numbers(): Promise<{ count: number; memory: number }>;
  close(): void;
}

const State = z.object({
  batches: z.int().nonnegative(),
  idle_seconds: z.number().nonnegative(),
  memory_bytes: z
    .int()
    .nonnegative()
    .max(2 ** 50),
});

interface Parent {
  /** As whom it is signalled. */
  host: Host;
  handle: ProcessHandle;
  state: z.output<typeof State>;
}

/** As the worker says what can be warm (`can_be_warm`); it looks at the files as well. Without /proc nothing is. */
const isScript = ([interpreter = '', script = '', ...rest]: string[]) =>
  HAS_PROC &&
  /^(python|pypy)[^/]*$/.test(interpreter.split('/').at(-1)!) &&
  isAbsolute(script) &&
  script.endsWith('.py') &&
  rest.length === 0;

const digest = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 20);

const sorted = (variables: Record<string, string>) =>
  Object.entries(variables).toSorted(([one], [other]) => (one < other ? -1 : 1));

async function readState(folder: string): Promise<z.output<typeof State> | undefined> {
  try {
    const text = (await readEnd(join(folder, 'state.json'), LONGEST_STATE))?.toString('utf8') ?? '';
    return State.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Which socket is there; empty where there is none. */
const socketIn = (place: string) =>
  stat(join(place, 'socket')).then(
    ({ ino, ctimeMs }) => `${ino} ${ctimeMs}`,
    () => '',
  );

function isMemoryShort(): boolean {
  const limit = process.constrainedMemory();
  const total = limit > 0 && limit < totalmem() ? limit : totalmem();
  return process.availableMemory() < LEFT_FREE * total;
}

interface Options {
  host: Host;
  /** Only the account of the service writes to it; in each folder in it, the account of that process does too. */
  folder: string;
  idleSeconds: number;
  /** Of those that nobody uses, together. */
  mostMemory: number;
}

/** Folders are named by the service alone, so that their names can be believed. */
const uidIn = (name: string) => Number(/\.(\d+)$/.exec(name)?.[1] ?? 0);

export function createWarmParents({ host: own, folder, idleSeconds, mostMemory }: Options): WarmParents {
  const lease = join(folder, 'lease');
  const version = createHash('sha256').update(workerArchive()).digest('hex');
  const starting = new Map<string, Promise<void>>();

  function folderOf(interpreter: string, { environment, workingFolder }: Surroundings, account?: AccountHost): string {
    const variables = account ? environmentOfAccount(account.account) : commandEnvironment();
    const name = digest([interpreter, workingFolder, sorted(environment), sorted(variables), version]);
    return join(folder, account ? `${name}.${account.account.uid}` : name);
  }

  async function makePlace(place: string, account: AccountHost | undefined): Promise<void> {
    await mkdir(place, { recursive: true, mode: 0o700 });
    if (account) await account.share(place, SHARED_FOLDER);
  }

  async function renew(): Promise<void> {
    const now = new Date();
    await utimes(lease, now, now).catch(async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(lease, '');
    });
  }

  async function launch(place: string, python: string, host: Host): Promise<void> {
    const worker = await writeWorker(place);
    // one that was killed has left its own
    const before = await socketIn(place);
    let hasEnded = false;
    const onExit = () => (hasEnded = true);
    const output = join(place, 'warm.log');
    await host.launch([python, '-I', '-S', worker, '--warm', place], { cwd: '/', output, onExit });
    const end = Date.now() + LONGEST_START_MS;
    const listens = async () => ![before, ''].includes(await socketIn(place));
    while (!hasEnded && Date.now() < end && !(await listens())) await sleep(LOOK_MS);
  }

  async function start(place: string, { interpreter, python, surroundings, account }: Wanted) {
    await renew();
    const { environment, workingFolder: working_folder } = surroundings;
    const rules = { interpreter, environment, working_folder, idle_seconds: idleSeconds };
    await replace(join(place, 'warm.json'), JSON.stringify({ ...rules, lease, lease_seconds: LEASE_SECONDS }));
    await launch(place, python, account ?? own);
  }

  interface Wanted {
    interpreter: string;
    scripts: string[];
    python: string;
    surroundings: Surroundings;
    account: AccountHost | undefined;
  }

  /** Gives the process that was there before. */
  async function running(wanted: Wanted): Promise<ProcessHandle | undefined> {
    const { interpreter, scripts, surroundings, account } = wanted;
    const place = folderOf(interpreter, surroundings, account);
    await starting.get(place);
    const holder = await livingHolder(own, place);
    if (holder) return holder;
    const begin = async () => {
      await makePlace(place, account);
      await tellScripts(place, scripts);
      await start(place, wanted);
    };
    // another call may have begun meanwhile
    const begun = starting.get(place) ?? begin().finally(() => starting.delete(place));
    starting.set(place, begun);
    await begun;
    return undefined;
  }

  async function tellScripts(place: string, scripts: string[]): Promise<void> {
    await replace(join(place, 'ahead.json'), JSON.stringify({ scripts }));
  }

  async function living(): Promise<Parent[]> {
    const found: Parent[] = [];
    for (const name of await readdir(folder).catch(() => [])) {
      const handle = await livingHolder(own, join(folder, name));
      const state = handle && (await readState(join(folder, name)));
      if (state) found.push({ host: (await hostOfOwner(uidIn(name))) ?? own, handle, state });
    }
    return found;
  }

  /** The ones that were idle for longest go first. */
  async function endTooMany(): Promise<void> {
    const parents = await living();
    const idle = parents
      .filter(({ state }) => state.batches === 0)
      .toSorted((one, other) => other.state.idle_seconds - one.state.idle_seconds);
    let memory = idle.reduce((sum, { state }) => sum + state.memory_bytes, 0);
    let count = parents.length;
    for (const { host, handle, state } of idle) {
      if (memory <= mostMemory && count <= MOST_PARENTS && !isMemoryShort()) return;
      await host.signal(handle, 'SIGTERM');
      memory -= state.memory_bytes;
      count -= 1;
    }
  }

  /** Folders of warm parents that ended long ago. */
  async function forgetOld(): Promise<void> {
    for (const name of await readdir(folder)) {
      const place = join(folder, name);
      const about = await stat(join(place, 'warm.json')).catch(() => undefined);
      if (!about || Date.now() - about.mtimeMs < FORGET_AFTER_MS || (await livingHolder(own, place))) continue;
      const account = await hostOfOwner(uidIn(name));
      if (account) await account.removeShared(place);
      else await rm(place, { recursive: true, force: true });
    }
  }

  async function lookAfter(): Promise<void> {
    if (!(await exists(folder))) return;
    await renew();
    await endTooMany();
    await forgetOld();
  }

  const timer = setInterval(guarded(lookAfter, ignored), RENEW_MS);
  timer.unref();

  return {
    folderFor: (command, surroundings, account) =>
      isScript(command) ? folderOf(command[0]!, surroundings, account) : undefined,
    async importAhead(python, commands, surroundings, account) {
      const scripts = new Map<string, string[]>();
      for (const command of commands.filter(isScript)) {
        const [interpreter, script] = command as [string, string];
        scripts.set(interpreter, [...(scripts.get(interpreter) ?? []), script]);
      }
      for (const [interpreter, list] of scripts) {
        const before = await running({ interpreter, scripts: list, python, surroundings, account });
        if (!before) continue;
        await tellScripts(folderOf(interpreter, surroundings, account), list);
        await (account ?? own).signal(before, 'SIGUSR1');
      }
    },
    async ensure(python, command, surroundings, account) {
      const [interpreter, ...scripts] = command;
      if (isScript(command)) await running({ interpreter: interpreter!, scripts, python, surroundings, account });
    },
    async numbers() {
      const parents = await living();
      return { count: parents.length, memory: parents.reduce((sum, { state }) => sum + state.memory_bytes, 0) };
    },
    close: () => clearInterval(timer),
  };
}
