import { describe, expect, it } from 'vitest';

import { cpuTimeOf } from '../../../tests/support/cpu-time.ts';
import { csvLine, csvOf, NumberAsWritten } from '../src/index.ts';

describe('a table for spreadsheets', () => {
  it('has quotes only where they are needed, and lines that end as spreadsheets expect', () => {
    expect(
      csvOf(
        ['a', 'b'],
        [
          ['x', 'y,z'],
          ['"q"', 'two\nlines'],
        ],
      ),
    ).toBe('a,b\r\nx,"y,z"\r\n"""q""","two\nlines"\r\n');
  });

  it('writes a text of two hundred thousand digits in no time', () => {
    const cell = `+${'0'.repeat(200_000)}x`;
    let line = '';
    expect(cpuTimeOf(() => (line = csvLine([cell])))).toBeLessThan(5000);
    expect(line === `'${cell}\r\n`).toBe(true);
  });

  it.each([
    ['=1+1', `'=1+1`],
    ['+cmd', `'+cmd`],
    ['-2+3+cmd', `'-2+3+cmd`],
    ['@SUM(A1)', `'@SUM(A1)`],
    ['\t=1', `'\t=1`],
    ['\r=1', `"'\r=1"`],
    ['\n=1', `"'\n=1"`],
    ['＝1+1', `'＝1+1`],
    ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
    ['-', `'-`],
  ])('shows the text %j as a text', (cell, written) => {
    expect(csvLine([cell, cell])).toBe(`${written},${written}\r\n`);
    expect(csvOf([cell], [])).toBe(`${written}\r\n`);
  });

  it.each([
    [-1.5, '-1.5'],
    [-0.1e-7, '-1e-8'],
    [new NumberAsWritten('-1.50'), '-1.50'],
    [new NumberAsWritten('12345678901234567890'), '12345678901234567890'],
    ['-1.5', '-1.5'],
    ['+3', '+3'],
    ['-1e-3', '-1e-3'],
    [true, 'true'],
    [null, ''],
    [undefined, ''],
    ['', ''],
    ['a=b', 'a=b'],
    ["'quoted'", "'quoted'"],
    ['/data/plate-1', '/data/plate-1'],
    ['someone+tag@example.org', 'someone+tag@example.org'],
  ])('leaves %j as it is', (cell, written) => {
    expect(csvLine([cell])).toBe(`${written}\r\n`);
  });
});
