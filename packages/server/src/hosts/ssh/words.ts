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
 * its own, so that its process number is that of its group. It has no newline, `!` or `\`, so that login shells
 * other than those of POSIX read it too.
 */
const BEGIN = [
  'mark=$1',
  'cd -- "$2" || exit 127',
  'shift 2',
  'command -v "$1" >/dev/null || { echo "$1 is not found" >&2; exit 127; }',
  'stat=$$',
  'read -r stat </proc/$$/stat',
  'echo "$mark" >&2',
  'echo "$mark $stat"',
  'exec "$@"',
].join('; ');

export interface CommandLine {
  cwd?: string;
  env?: Record<string, string>;
  /** Printed on a line of its own when the command begins. */
  mark: string;
}

export function commandLine(command: Command, { cwd = '/', env = {}, mark }: CommandLine): string {
  if (!cwd.startsWith('/')) throw new Error(`${cwd} is not an absolute path.`);
  if (command[0] === '' || command[0].startsWith('-')) throw new Error(`"${command[0]}" is not the name of a program.`);
  const variables = Object.entries(env).map(([name, value]) => {
    if (!VARIABLE.test(name)) throw new Error(`${JSON.stringify(name)} is not the name of a variable.`);
    return `${name}=${value}`;
  });
  const surroundings = variables.length === 0 ? [] : ['env', ...variables];
  const line = `exec ${quote([...surroundings, '/bin/sh', '-c', BEGIN, 'sh', mark, cwd, ...command])}`;
  if (Buffer.byteLength(line) > LONGEST_LINE) {
    throw new Error(
      `${command[0]} has more words than fit on one line. Give them as its input, or in several commands.`,
    );
  }
  return line;
}
