/** Reads the `#SBATCH` lines of a script as `sbatch` does, character by character. */
export function sbatchArguments(script: string): string[] {
  const found: string[] = [];
  for (const line of script.split('\n')) {
    if (line.startsWith('#SBATCH')) found.push(...wordsOf(line.slice('#SBATCH'.length)));
    // the first command ends the options
    else if (/^\s*[^#\s]/.test(line)) break;
  }
  return found;
}

const isBlank = (character: string) => ' \t\n\v\f\r'.includes(character);

function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (let at = 0; ;) {
    while (at < line.length && isBlank(line[at]!)) at += 1;
    const { word, end } = wordAt(line, at);
    // a comment, or nothing between quotation marks: the rest of the line does not count
    if (word === undefined) return words;
    words.push(word);
    at = end;
  }
}

function wordAt(line: string, start: number): { word: string | undefined; end: number } {
  let word: string | undefined;
  let quote = '';
  let escaped = false;
  let at = start;
  for (; at < line.length && (quote !== '' || !isBlank(line[at]!)); at += 1) {
    const character = line[at]!;
    const meaning: Meaning = escaped ? 'itself' : meaningOf(character, quote);
    escaped = meaning === 'escape';
    if (meaning === 'comment') break;
    if (meaning === 'quote') quote = quote === '' ? character : '';
    if (meaning === 'itself') word = (word ?? '') + character;
  }
  if (quote !== '') throw new Error(`Unmatched ${quote}`);
  return { word, end: at };
}

type Meaning = 'escape' | 'quote' | 'comment' | 'itself';

function meaningOf(character: string, quote: string): Meaning {
  if (character === '\\') return 'escape';
  if (quote === '' ? character === '"' || character === "'" : character === quote) return 'quote';
  return quote === '' && character === '#' ? 'comment' : 'itself';
}
