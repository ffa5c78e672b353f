/**
 * Any command as another account, through sudo. sudo makes an environment of its own and shows the words of a command to
 * everybody, so that variables come as the first lines of what the command reads. The account is the only one that can
 * signal its processes: they are ended by a second command.
 */
import { guarded, ignored } from '../guard.ts';
import { type Account, CLEAN_SESSION } from './accounts.ts';
import { environmentOfAccount } from './environment.ts';
import { type Command, type Finished, type Host, HostTimeout, type RunOptions } from './host.ts';
import { launchAs, localHost } from './local.ts';
import { endCommand } from './ssh/run.ts';
import { sudoRefusal, sudoSaid } from './sudo.ts';

const READ_VARIABLES = 'for name in $names; do IFS= read -r value || exit 126; export "$name=$value"; done';

/** Says as which process it runs, and becomes the command. */
const RUN = [
  'names=$1 cwd=$2 input=$3',
  'shift 3',
  READ_VARIABLES,
  'cd -- "$cwd" || exit 127',
  'read -r stat </proc/$$/stat || exit 126',
  'echo "$stat"',
  'unset names cwd stat name value PWD OLDPWD',
  'if test "$input" = none; then unset input; exec "$@" </dev/null; fi',
  'unset input',
  'exec "$@"',
].join('; ');

const LAUNCH = [
  'names=$1 cwd=$2',
  'shift 2',
  READ_VARIABLES,
  'cd -- "$cwd" || exit 127',
  'unset names cwd name value PWD OLDPWD',
  'exec "$@" </dev/null',
].join('; ');

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const LONGEST_FIRST_LINE = 4096;

/** A value of several lines cannot be told this way, and is left out. */
const tellable = (variables: Record<string, string>) =>
  Object.entries(variables).filter(([name, value]) => VARIABLE.test(name) && !/[\n\0]/.test(value));

function inSession(username: string, script: string, words: string[]): Command {
  const begin = ['sudo', '--set-home', '--non-interactive', '-u', username, '--'] as const;
  return [...begin, ...CLEAN_SESSION, script, 'sh', ...words];
}

async function* startingWith(lines: string, input: RunOptions['input']): AsyncGenerator<Uint8Array> {
  yield Buffer.from(lines);
  if (typeof input === 'string') yield Buffer.from(input);
  else if (input instanceof Uint8Array) yield input;
  else if (input !== undefined) yield* input;
}

/** Takes the first line off what a command prints. */
function behindFirstLine(onLine: (line: string) => void, pass: (chunk: Buffer) => Promise<void> | void) {
  let before: Buffer | undefined = Buffer.alloc(0);
  return (chunk: Buffer): Promise<void> | void => {
    if (before === undefined) return pass(chunk);
    before = Buffer.concat([before, chunk]);
    const end = before.indexOf('\n');
    if (end < 0 && before.length > LONGEST_FIRST_LINE)
      throw new Error('sudo printed something else than was asked for.');
    if (end < 0) return;
    const [line, rest] = [before.toString('utf8', 0, end), before.subarray(end + 1)];
    before = undefined;
    onLine(line);
    if (rest.length > 0) return pass(rest);
  };
}

/** What the kernel says of a process, as in `/proc/<pid>/stat`. */
const handleOf = (stat: string) => ({
  pid: Number.parseInt(stat),
  started: stat.split(') ').at(-1)!.split(' ')[19] ?? '',
});

export function sudoAccount(account: Account): Pick<Host, 'run' | 'launch'> {
  const { name } = account;

  async function run(command: Command, options: RunOptions = {}): Promise<Finished> {
    const { onBytes, onOutput, onStart, input, signal, timeoutMs, cwd = '/' } = options;
    const variables = tellable({ ...environmentOfAccount(account, options), ...options.env, ...options.secrets });
    const words = [variables.map(([variable]) => variable).join(' '), cwd, input === undefined ? 'none' : 'some'];
    const decoder = new TextDecoder();
    let pid: number | undefined;
    let [isEnding, isOverTime, complaints] = [false, false, ''];
    let ended: Promise<unknown> = Promise.resolve();

    const kill = () => {
      if (pid !== undefined) ended = run(endCommand([String(-pid)])).catch(ignored);
    };
    const end = () => {
      if (isEnding) return;
      isEnding = true;
      kill();
    };
    const begun = (stat: string) => {
      const handle = handleOf(stat);
      pid = handle.pid;
      if (isEnding) return kill();
      return onStart?.(handle);
    };
    const take = behindFirstLine(
      (stat) => void Promise.resolve(begun(stat)).catch(end),
      (chunk) => (onBytes ? onBytes(chunk) : say(decoder.decode(chunk, { stream: true }))),
    );
    const say = (text: string) => (text === '' ? undefined : onOutput?.(text, 'stdout'));

    const overTime = () => {
      isOverTime = true;
      end();
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(guarded(overTime, ignored), timeoutMs);
    const guardedEnd = guarded(end, ignored);
    signal?.addEventListener('abort', guardedEnd, { once: true });
    if (signal?.aborted) end();
    try {
      const finished = await localHost.run(inSession(name, RUN, [...words, ...command]), {
        cwd: '/',
        env: { LC_ALL: 'C.UTF-8' },
        input: startingWith(variables.map(([, value]) => `${value}\n`).join(''), input),
        onBytes: take,
        onOutput: (text) => {
          if (pid === undefined && complaints.length < 2000) complaints += text;
          return onOutput?.(text, 'stderr');
        },
      });
      await say(decoder.decode());
      if (isOverTime) throw new HostTimeout(command[0], `took longer than ${timeoutMs! / 1000} s and was ended.`);
      const said = pid === undefined ? sudoSaid(complaints) : undefined;
      if (said !== undefined) throw sudoRefusal(said, command, name);
      return finished;
    } catch (error) {
      end();
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', guardedEnd);
      await ended;
    }
  }

  return {
    run,
    launch(command, options) {
      const variables = tellable(environmentOfAccount(account));
      const words = [variables.map(([variable]) => variable).join(' '), options.cwd];
      const input = variables.map(([, value]) => `${value}\n`).join('');
      return launchAs(undefined, inSession(name, LAUNCH, [...words, ...command]), { ...options, cwd: '/', input });
    },
  };
}
