/**
 * Another account of this machine, through sudo: `await capture(sudoCommands('alice'), ['mkdir', '-p', folder])`.
 *
 * The sudo rules of a site name the programs that the service may run as its people, often just mkdir, sbatch, scancel
 * and cat. sudo hands no environment on, and commands run in `/`: the folder of the service may be closed to the person.
 */
import { ServiceError } from '@service/contract/errors';

import { type Command, type Commands, type Finished, type RunOptions } from './host.ts';
import { localHost } from './local.ts';

/** sudo did not run the command; the message is for the administrator of the service. */
export class SudoRefused extends ServiceError {
  readonly kind = 'sudo-refused';
  readonly username: string;
  /** What sudo said; nothing where it was not asked. */
  readonly said: string;

  constructor(message: string, { username, said = '' }: { username: string; said?: string }) {
    super(message);
    this.username = username;
    this.said = said;
  }
}

/** `-u '#0'` is root to sudo, and a leading dash is an option. */
export const ACCOUNT_NAME = /^[A-Za-z_][A-Za-z0-9_.-]*\$?$/;

/** Lines of sudo itself. Warnings stand above what the command says, also when it runs. */
const SUDO_SPEAKS = /^(sudo: |Sorry, user |.* is not in the sudoers file|.* is not allowed to run sudo on )/;
const WARNING = /^sudo: (unable to resolve host|setrlimit|.*: warning)/;
const NOT_ALLOWED = /password is required|terminal is required|not allowed|not in the sudoers|a password/i;

/** What sudo said when it did not run a command; undefined when it did, and what was printed is the command's. */
export function sudoSaid(stderr: string): string | undefined {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !WARNING.test(line));
  if (lines.length === 0) return undefined;
  // this one quotes the command, whose words may have line ends
  const refuses = lines[0]!.startsWith('Sorry, user ') || lines.every((line) => SUDO_SPEAKS.test(line));
  return refuses ? lines.join(' ').trim() : undefined;
}

export function sudoRefusal(said: string, command: Command, username: string): SudoRefused {
  const [program] = command;
  const about = { username, said };
  if (/unknown user/i.test(said)) {
    return new SudoRefused(
      `There is no account "${username}" on this machine. Check the user name of the profile.`,
      about,
    );
  }
  if (/command not found|no such file/i.test(said)) {
    return new SudoRefused(`${program} is not found on this machine (${said}).`, about);
  }
  if (NOT_ALLOWED.test(said)) {
    return new SudoRefused(
      `The sudo rules of the service do not allow ${program} as ${username} (${said}). ` +
        `Allow it without a password, for example in /etc/sudoers.d.`,
      about,
    );
  }
  return new SudoRefused(`sudo could not run ${program} as ${username} (${said}).`, about);
}

export function sudoCommands(username: string): Commands {
  if (!ACCOUNT_NAME.test(username)) {
    throw new SudoRefused(
      `${JSON.stringify(username)} is not the name of an account. Check the user name of the profile.`,
      { username },
    );
  }

  async function run(command: Command, options: RunOptions = {}): Promise<Finished> {
    if (options.cwd !== undefined || options.env !== undefined || options.secrets !== undefined) {
      throw new Error('Commands through sudo run in / with the environment that sudo makes.');
    }
    let printed = false;
    let beginning = '';
    const { onBytes, onOutput } = options;
    const finished = await localHost.run(
      ['sudo', '--set-home', '--non-interactive', '-u', username, '--', ...command],
      {
        ...options,
        cwd: '/',
        // what sudo says is read here, so it has to be said in one language
        env: { LC_ALL: 'C.UTF-8' },
        ...(onBytes && {
          onBytes: (chunk: Buffer) => {
            printed = true;
            return onBytes(chunk);
          },
        }),
        onOutput: (text, from) => {
          if (from === 'stdout') printed = true;
          else if (beginning.length < 2000) beginning += text;
          return onOutput?.(text, from);
        },
      },
    );
    const said = finished.code === 1 && !printed ? sudoSaid(beginning) : undefined;
    if (said !== undefined) throw sudoRefusal(said, command, username);
    return finished;
  }

  return { run };
}
