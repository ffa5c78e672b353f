/**
 * A command as one line for the login shell of the far side, so that the far side sees exactly the words.
 *
 *     quote(["it's", '$HOME'])   →   'it'\''s' '$HOME'
 */
import type { Command } from '../host.ts';

const PLAIN = /^[A-Za-z0-9_@%+:,./-]+$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Linux takes 128 KiB in one word, and the whole line is one word to the login shell. */
const LONGEST_LINE = 128 * 1024 - 1;

function quoteWord(word: string): string {
  if (word.includes('\0')) throw new Error('A word of a command holds a NUL character, which no command can be given.');
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const quote = (words: readonly string[]) => words.map(quoteWord).join(' ');

/**
 * Goes to the folder, says that the command begins and as which process, and becomes the command. What is printed before
 * the mark comes from login scripts and is not the command's; no mark, no command. sshd gives each command a session of
 * its own, so that its process number is that of its group. Secrets come as the first lines of its input. It has no newline, `!` or `\`, so that login shells
 * other than those of POSIX read it too.
 */
const BEGIN = [
  'mark=$1',
  'cd -- "$2" || exit 127',
  'secrets=$3',
  'shift 3',
  'command -v "$1" >/dev/null || { echo "$1 is not found" >&2; exit 127; }',
  'stat=$$',
  'read -r stat </proc/$$/stat',
  'echo "$mark" >&2',
  'echo "$mark $stat"',
  'for name in $secrets; do IFS= read -r value || exit 126; export "$name=$value"; done',
  'exec "$@"',
].join('; ');

export interface CommandLine {
  cwd?: string;
  env?: Record<string, string>;
  /** Their names; the values are the first lines that the command is sent, see `secretLines`. */
  secrets?: Record<string, string>;
  /** Printed on a line of its own when the command begins. */
  mark: string;
}

function requireName(name: string): void {
  if (!VARIABLE.test(name)) throw new Error(`${JSON.stringify(name)} is not the name of a variable.`);
}

/** The values of secrets, in the order of their names. */
export function secretLines(secrets: Record<string, string>): string {
  const odd = Object.keys(secrets).find((name) => /[\n\0]/.test(secrets[name]!));
  if (odd !== undefined) throw new Error(`The value of ${odd} has several lines.`);
  return Object.values(secrets)
    .map((value) => `${value}\n`)
    .join('');
}

export function commandLine(command: Command, { cwd = '/', env = {}, secrets = {}, mark }: CommandLine): string {
  if (!cwd.startsWith('/')) throw new Error(`${cwd} is not an absolute path.`);
  if (command[0] === '' || command[0].startsWith('-')) throw new Error(`"${command[0]}" is not the name of a program.`);
  const variables = Object.entries(env).map(([name, value]) => {
    requireName(name);
    return `${name}=${value}`;
  });
  Object.keys(secrets).forEach(requireName);
  const surroundings = variables.length === 0 ? [] : ['env', ...variables];
  const line = `exec ${quote([...surroundings, '/bin/sh', '-c', BEGIN, 'sh', mark, cwd, Object.keys(secrets).join(' '), ...command])}`;
  if (Buffer.byteLength(line) > LONGEST_LINE) {
    throw new Error(
      `${command[0]} has more words than fit on one line. Give them as its input, or in several commands.`,
    );
  }
  return line;
}
