/** Errors that are one row with a count. */
import { describe, expect, test } from 'vitest';

import { equalErrors, type Failed, linesOf } from '#lib/logs/equal-errors.ts';

interface Item extends Failed {
  id: number;
  isDone?: boolean;
}

const item = (id: number, more: Partial<Item> = {}): Item => ({
  id,
  run: 1,
  cause: 'error',
  signal: null,
  message: null,
  zarr_urls: [`/data/${id}`],
  ...more,
});
const failedOf = (one: Item) => (one.isDone ? undefined : one);
const inWords = (items: Item[]) =>
  equalErrors(items, failedOf).map(({ error, items: same }) => `${same.map(({ id }) => id).join()}: ${error}`);

describe('equal errors', () => {
  test('are one entry with its items, in the order of the first ones', () => {
    const items = [1, 2, 3, 4].map((id) =>
      item(id, { message: `${id === 2 ? 'KeyError: DAPI' : 'ValueError: no pixels'}\nExit code 1` }),
    );
    expect(inWords(items)).toEqual(['1,3,4: ValueError: no pixels', '2: KeyError: DAPI']);
  });

  test('may name the image they are of', () => {
    expect(inWords([1, 2].map((id) => item(id, { message: `FileNotFoundError: /data/${id}/zarr.json` })))).toEqual([
      '1,2: FileNotFoundError: …/zarr.json',
    ]);
  });

  test('are of one run, with one cause', () => {
    const items = [
      item(1, { message: 'x' }),
      item(2, { message: 'x', run: 2 }),
      item(3, { message: 'x', cause: 'memory' }),
      item(4, { message: 'x', cause: 'signal', signal: 9 }),
      item(5),
      item(6, { message: '\n \n' }),
    ];
    expect(inWords(items)).toEqual(['1: x', '2: x', '3: x', '4: x', '5,6: ']);
  });

  test('what did not fail stays by itself', () => {
    expect(inWords([item(1, { isDone: true }), item(2), item(3, { isDone: true }), item(4)])).toEqual([
      '1: ',
      '2,4: ',
      '3: ',
    ]);
  });
});

test('a group is one line that opens, and one error is a line as before', () => {
  const groups = equalErrors([item(1), item(2, { message: 'x' }), item(3)], failedOf);
  const lines = (open: boolean) =>
    linesOf(groups, () => open).map(({ item: { id }, equal, inner }) => [id, equal?.items.length, inner]);
  expect(lines(false)).toEqual([
    [1, 2, false],
    [2, undefined, false],
  ]);
  expect(lines(true)).toEqual([
    [1, 2, false],
    [1, undefined, true],
    [3, undefined, true],
    [2, undefined, false],
  ]);
});
