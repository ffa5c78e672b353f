import { execFileSync } from 'node:child_process';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { controlProblem, directiveWords, sbatchWord, shellWord } from '../../../src/engine/slurm/words.ts';
import { sbatchArguments } from './sbatch-lines.ts';

const NASTY = [...'ab"\'\\#$`;& |>(){}[]*?!~%=,/-\té🔬'];
const nasty = fc.array(fc.constantFrom(...NASTY), { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''));

describe('words of a script', () => {
  it.each([
    ['main', 'main'],
    ['n[1-3]', '"n[1-3]"'],
    ['a b', '"a b"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['a#b', '"a#b"'],
    ['gpu:a100:1,x=2', 'gpu:a100:1,x=2'],
  ])('%s is written as %s for sbatch', (value, word) => {
    expect(sbatchWord(value)).toBe(word);
  });

  it('are one word for sbatch, whatever is in them', () => {
    fc.assert(
      fc.property(nasty, nasty, (one, other) => {
        const line = `#SBATCH --a=${sbatchWord(one)} --b=${sbatchWord(other)} # why`;
        expect(sbatchArguments(line)).toEqual([`--a=${one}`, `--b=${other}`]);
      }),
      { numRuns: 1000 },
    );
  });

  it('are one word for a shell, whatever is in them', () => {
    fc.assert(
      fc.property(fc.array(nasty, { minLength: 1, maxLength: 20 }), (values) => {
        const printed = execFileSync('/bin/sh', ['-c', `printf '%s\\n' ${values.map(shellWord).join(' ')}`]);
        expect(printed.toString()).toBe(values.map((value) => `${value}\n`).join(''));
      }),
      { numRuns: 50 },
    );
  });

  it('of others are read as sbatch reads them', () => {
    fc.assert(
      fc.property(nasty, (text) => {
        let words: string[];
        try {
          words = sbatchArguments(`#SBATCH x${text}`);
        } catch {
          return; // a quotation mark without its other half: sbatch refuses the script
        }
        expect(directiveWords(`#SBATCH x${text}`).slice(0, words.length)).toEqual(words);
      }),
      { numRuns: 2000 },
    );
  });

  it.each(['a\nb', 'a\r', 'a\0', 'a\tb', '\u001b[0m', 'a\u0085b', '\u007f'])('%j has control characters', (value) => {
    expect(controlProblem(value)).toBe('has a line break or another control character');
  });

  it.each(['', 'a b', 'é 細胞 🔬', '#"\'\\'])('%j has none', (value) => {
    expect(controlProblem(value)).toBeUndefined();
  });
});
