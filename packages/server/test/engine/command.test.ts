import { describe, expect, it } from 'vitest';

import { commandWords } from '../../src/engine/command.ts';

describe('the words of a command', () => {
  it.each([
    ['/env/bin/python /p/task.py', ['/env/bin/python', '/p/task.py']],
    ['  a \t b  ', ['a', 'b']],
    [`'/my env/python' -u "a b.py"`, ['/my env/python', '-u', 'a b.py']],
    [`a'b c'd`, ['ab cd']],
    [`a '' ""`, ['a', '', '']],
    [`'it'"'"'s'`, ["it's"]],
  ])('of %s', (command, words) => {
    expect(commandWords(command)).toEqual({ words });
  });

  it.each([[`'open`], [`a "b`], ['a; b'], ['a $(b)'], ['a | b'], [''], ['   '], [null]])('refuse %s', (command) => {
    expect(commandWords(command)).toHaveProperty('problem');
  });
});
