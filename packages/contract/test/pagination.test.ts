/** Which page of a list a query asks for. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { pageProblem, pageQuery } from '../src/index.ts';
import { problemsOf, valueOf } from './support/reading.ts';

const query = z.object(pageQuery);

describe('the query of a page', () => {
  it.each<[unknown, unknown]>([
    [{}, { page: 1, page_size: null }],
    [
      { page: '2', page_size: '50' },
      { page: 2, page_size: 50 },
    ],
    [
      { page_size: '10', other: 'x' },
      { page: 1, page_size: 10 },
    ],
    [
      { page: '0', page_size: '-1' },
      { page: 0, page_size: -1 },
    ],
  ])('%j reads as %j', (input, page) => {
    expect(valueOf(query, input)).toEqual(page);
  });

  it.each([
    [{ page: '' }, 'page'],
    [{ page: 'x' }, 'page'],
    [{ page: '1.5' }, 'page'],
    [{ page: '1', page_size: '' }, 'page_size'],
    [{ page_size: 'all' }, 'page_size'],
  ])('is refused as not an integer: %j', (input, name) => {
    expect(problemsOf(query, input)).toEqual([{ loc: ['body', name], type: 'int_parsing' }]);
  });
});

describe('a page', () => {
  it.each([
    [1, null],
    [1, 1],
    [1, 1_000_000],
    [2, 1],
    [1000, 50],
    // No upper bound: a page after the last one is empty. Both numbers and the offset fit into 64 bits.
    [1, Number.MAX_SAFE_INTEGER],
    [2_147_483_647, 2_147_483_647],
  ])('%d of size %s is fine', (page, page_size) => {
    expect(pageProblem({ page, page_size })).toBeUndefined();
  });

  it.each([
    [0, null, /page\b/],
    [-1, 10, /page\b/],
    [1, 0, /page_size/],
    [1, -5, /page_size/],
    [2, null, /page_size/],
    [2 ** 52, 2 ** 52, /page/],
  ])('%d of size %s is refused in words', (page, page_size, words) => {
    expect(pageProblem({ page, page_size })).toMatch(words);
  });

  it('is fine exactly when it counts from 1 and has a size where one is needed', () => {
    const small = fc.integer({ min: -3, max: 1000 });
    fc.assert(
      fc.property(small, fc.option(small), (page, page_size) => {
        const fine = page >= 1 && (page_size === null ? page === 1 : page_size >= 1);
        expect(pageProblem({ page, page_size }) === undefined).toBe(fine);
      }),
    );
  });
});
