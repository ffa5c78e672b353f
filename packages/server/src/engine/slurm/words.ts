/**
 * Words of a submission script: how `sbatch` splits a `#SBATCH` line, and how a value stays one word there and in a shell.
 *
 *     sbatchWord('a b')                        // "a b" with its quotation marks
 *     directiveWords('#SBATCH -p "a b" # why') // ['-p', 'a b']
 *     shellWord("it's")                        // 'it'\''s'
 *
 * `sbatch` takes both kinds of quotation marks, and a backslash before any character, inside them too. Outside them a
 * blank ends the word even after a backslash, and `#` begins a comment even inside a word.
 */
const DIRECTIVE = '#SBATCH';
const BARE = /^[\w.,:+=@%/-]+$/;

export const isDirective = (line: string): boolean => line.startsWith(DIRECTIVE);

export const sbatchWord = (value: string): string =>
  BARE.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`;

export const shellWord = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;

/** A line for `sbatch`, which reads quotation marks in its own way. */
export const directive = (option: string, value: string | number): string =>
  `${DIRECTIVE} --${option}=${sbatchWord(String(value))}`;

/** A path where Slurm takes patterns such as `%j`. */
export const plainPattern = (path: string): string => path.replaceAll('%', '%%');

/** Why a value must not stand in a script: it would end its line, or nobody could see what it does. */
export const controlProblem = (value: string): string | undefined =>
  /\p{Cc}/u.test(value) ? 'has a line break or another control character' : undefined;

/** An escaped character, a quoted part, a comment, a blank, or anything else; a quotation mark left open runs on. */
const PIECE = /\\(\S?)|"((?:\\.|[^"\\])*)(?:"|$)|'((?:\\.|[^'\\])*)(?:'|$)|(#.*)|(\s+)|(.)/gsu;

export function directiveWords(line: string): string[] {
  const words: string[] = [];
  let open = false;
  for (const [, escaped, double, single, comment, blank, other] of line.slice(DIRECTIVE.length).matchAll(PIECE)) {
    if (comment !== undefined) break;
    if (blank !== undefined) {
      open = false;
      continue;
    }
    const piece = escaped ?? (double ?? single)?.replace(/\\(.)/gs, '$1') ?? other ?? '';
    if (open) words[words.length - 1] += piece;
    else words.push(piece);
    open = true;
  }
  return words;
}

interface Option {
  long: string;
  /** The shortest beginning of the long name that `sbatch` takes for it. */
  least: string;
  short?: string;
}

/** Flags that may stand before another one in a word such as `-HA`. */
const FLAGS = /^-[bhHIkOQRsuvVW]*/;

/** Whether a `#SBATCH` line sets an option, in any way of writing it. */
export function setsOption(line: string, { long, least, short }: Option): boolean {
  return (
    isDirective(line) &&
    directiveWords(line).some((word) => {
      if (!word.startsWith('--')) {
        return short !== undefined && word.startsWith('-') && isFlagged(word, short);
      }
      const name = word.slice(2).split('=', 1)[0]!;
      return long.startsWith(name) && name.startsWith(least);
    })
  );
}

function isFlagged(word: string, short: string): boolean {
  const flags = FLAGS.exec(word)![0];
  return flags.includes(short) || word[flags.length] === short;
}
