/**
 * The commands that reached the cluster, as sudo and sshd wrote them down: to count what an operation costs.
 *
 *     const since = now();
 *     …
 *     expect(sudoCommands(since).map(({ command }) => command)).toEqual([expect.stringMatching(/^\/usr\/bin\/sbatch /)]);
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { LOGS } from './commands.ts';

type Log = 'sudo' | 'ssh-commands' | 'sshd';

/** How long each log is at a moment. */
export type Moment = Record<Log, number>;

const pathOf = (log: Log) => join(LOGS, log);

const lengthOf = (log: Log) => statSync(pathOf(log), { throwIfNoEntry: false })?.size ?? 0;

export const now = (): Moment => ({
  sudo: lengthOf('sudo'),
  'ssh-commands': lengthOf('ssh-commands'),
  sshd: lengthOf('sshd'),
});

const readSince = (log: Log, since: Moment): string =>
  lengthOf(log) === 0 ? '' : readFileSync(pathOf(log)).subarray(since[log]).toString();

export interface Command {
  user: string;
  command: string;
}

/** What the service had run through sudo; the program is named by its whole path. */
export const sudoCommands = (since: Moment): Command[] =>
  readSince('sudo', since)
    .split('\n')
    .flatMap((line) => {
      const [, user, command] = / : svcuser : .*?USER=(\S+) ;.* COMMAND=(.*)$/.exec(line) ?? [];
      return command === undefined ? [] : [{ user: user!, command }];
    });

/** What was run over SSH, sftp sessions included. */
export const sshCommands = (since: Moment): Command[] =>
  readSince('ssh-commands', since)
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry) => {
      const space = entry.indexOf(' ');
      return { user: entry.slice(0, space), command: entry.slice(space + 1) };
    });

/** Who logged in by SSH, once for each connection. */
export const sshLogins = (since: Moment): string[] =>
  [...readSince('sshd', since).matchAll(/^Accepted publickey for (\S+)/gm)].map(([, user]) => user!);
