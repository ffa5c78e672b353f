import { describe, expect, it } from 'vitest';

import { readProblem } from '../../src/lib/api/problem.ts';

describe('what a refusal says', () => {
  it.each([
    ['a text', 422, '{"detail": "Wait."}', 'Wait.', []],
    ['a list of texts', 422, '{"detail": ["One.", "Two."]}', 'One. Two.', []],
    [
      'one field',
      422,
      '{"detail": [{"loc": ["body", "name"], "msg": "Value error, Choose another name.", "type": "value_error"}]}',
      'Choose another name.',
      [{ path: ['name'], message: 'Choose another name.' }],
    ],
    [
      'an item of a list, and the whole',
      422,
      '{"detail": [{"loc": ["body", "accounts", 1], "msg": "A.", "type": "x"}, {"loc": ["body", "__root__"], "msg": "B.", "type": "x"}]}',
      'accounts.1: A. B.',
      [
        { path: ['accounts', 1], message: 'A.' },
        { path: [], message: 'B.' },
      ],
    ],
    ['a message of the web server', 500, '{"message": "No route."}', 'No route.', []],
    ['nothing that can be read', 502, '<html>', 'The service answered with status 502.', []],
    ['no words', 403, '{}', 'You don’t have permission to do this.', []],
  ])('in %s', (_, status, text, message, fields) => {
    expect(readProblem(status, text)).toMatchObject({ status, message, fields });
  });
});
