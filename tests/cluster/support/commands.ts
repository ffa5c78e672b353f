/** Where the test cluster lies, and how commands run in it; the scripts beside this file say the same in `common.sh`. */
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const BASE = '/var/lib/service-test-cluster';
export const LOGS = join(BASE, 'log');

/** This checkout, where every account of the cluster can read it and none can change it. */
export const CHECKOUT = '/run/service-test-checkout';

/** Slurm's programs, whatever a test has put in the place of those of the system. */
export const real = (program: string): string => join(BASE, 'real', program);

/** The service has the account of svcuser and acts for the others. */
export type Account = 'svcuser' | 'alice' | 'bob';

export const SSH = {
  host: '127.0.0.1',
  port: 22_822,
  knownHosts: join(BASE, 'ssh/known_hosts'),
  /** A private key that svcuser can read. */
  keyOf: (user: 'alice' | 'bob'): string => join(BASE, 'ssh', user),
};

export interface Done {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface RunOptions {
  input?: string;
  env?: Record<string, string>;
}

export function run([program, ...args]: string[], { input = '', env }: RunOptions = {}): Promise<Done> {
  return new Promise((resolve, reject) => {
    const child = spawn(program!, args, { cwd: '/', env: env ?? process.env });
    const said = { stdout: '', stderr: '' };
    for (const from of ['stdout', 'stderr'] as const) {
      child[from].setEncoding('utf8').on('data', (text: string) => (said[from] += text));
    }
    child.once('error', reject);
    // a program that refuses does not wait for what it is told
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.once('close', (code) => resolve({ code, ...said }));
  });
}

/** What a command that must succeed prints. */
export async function must(command: string[], options?: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await run(command, options);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${stderr}${stdout}`);
  return stdout;
}

export const scriptPath = (name: string): string => join(import.meta.dirname, `${name}.sh`);

/** One of the scripts beside this file. */
export const script = (name: string, ...args: string[]): Promise<string> => must(['bash', scriptPath(name), ...args]);

const homeOf = (user: Account) => join(BASE, 'home', user);

/** Nothing of the environment of whoever runs the tests. */
export const environmentOf = (user: Account): Record<string, string> => ({
  HOME: homeOf(user),
  USER: user,
  LOGNAME: user,
  PATH: '/usr/local/bin:/usr/bin:/bin',
  LANG: 'C.UTF-8',
});

/** The words that start a command as somebody else and become it, so that signals reach the command itself. */
export const becoming = (user: Account): string[] => [
  'setpriv',
  `--reuid=${user}`,
  `--regid=${user}`,
  '--init-groups',
  '--inh-caps=-all',
];

export const asUser = (user: Account, command: string[], input?: string): Promise<Done> =>
  run([...becoming(user), ...command], { env: environmentOf(user), ...(input !== undefined && { input }) });

/** As the service does it: from its own account, for one of the users. */
export const throughSudo = (user: 'alice' | 'bob', command: string[], input?: string): Promise<Done> =>
  asUser('svcuser', ['sudo', '--set-home', '--non-interactive', '-u', user, ...command], input);

function idsOf(user: Account): [number, number] {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${user}:`));
  const [, , uid, gid] = line!.split(':');
  return [Number(uid), Number(gid)];
}

/** A new folder of somebody, in a place that everybody can enter; it goes with the cluster. */
export function folderOf(user: Account, mode = 0o755): string {
  mkdirSync(join(BASE, 'work'), { recursive: true });
  const folder = mkdtempSync(join(BASE, 'work', `${user}-`));
  chownSync(folder, ...idsOf(user));
  chmodSync(folder, mode);
  return folder;
}
