import { describe, expect, test } from 'vitest';

import { clean } from '#lib/api/clean.ts';
import { parseJson, writeJson } from '#lib/json.ts';

describe('bodies are cleaned', () => {
  test.each<[string, unknown, unknown, string[]]>([
    [
      'nothing to do',
      { name: 'plate 1', count: 3, on: true, none: null },
      { name: 'plate 1', count: 3, on: true, none: null },
      [],
    ],
    ['blanks at the ends', { name: '  plate 1 ' }, { name: 'plate 1' }, ['name']],
    ['signs that nobody sees', { name: 'pl\u200bate\ufeff 1' }, { name: 'plate 1' }, ['name']],
    ['letters in two parts', { name: 'Zu\u0308rich' }, { name: 'Z\u00fcrich' }, ['name']],
    ['names of fields too', { ' a ': { b: 1 } }, { a: { b: 1 } }, ['a']],
    ['at any depth', { a: [{ b: ['x', ' y'] }] }, { a: [{ b: ['x', 'y'] }] }, ['a.0.b.1']],
    ['but not a password', { password: ' secret ' }, { password: ' secret ' }, []],
  ])('%s', (_, given, value, changed) => expect(clean(given)).toEqual({ value, changed }));

  test('numbers stay as they were written', () =>
    expect(writeJson(clean(parseJson('{"size": 1.0, "id": 12345678901234567890}')).value)).toBe(
      '{"size":1.0,"id":12345678901234567890}',
    ));
});
