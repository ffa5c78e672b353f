/** Notices lie over nothing that can be pressed, as long as there is such a place. */
import { expect, test } from 'vitest';

import { type Box, freePlace } from '../../src/lib/ui/free-place.ts';

const ROOM = { width: 1000, height: 800 };
const SIZE = { width: 200, height: 40 };
const at = (left: number, top: number, width = 80, height = 32): Box => ({ left, top, width, height });

test.each([
  ['the corner at the end where nothing is', [], [780, 740]],
  ['the middle where a button to save is in the corner', [at(900, 750)], [400, 740]],
  ['the other corner where the middle is taken too', [at(900, 750), at(450, 750)], [20, 740]],
  ['the top where the end of the window is full', [at(0, 730, 1000, 60)], [780, 56]],
])('%s', (_, obstacles, [left, top]) => {
  expect(freePlace(SIZE, ROOM, obstacles)).toMatchObject({ left, top });
});

test('where everything is taken, the place with the least', () => {
  const everywhere = at(0, 0, 1000, 800);
  const place = freePlace(SIZE, ROOM, [everywhere, at(900, 750), at(20, 750), at(850, 60), at(20, 60)]);
  expect(place).toMatchObject({ left: 400, top: 740 });
});

test('it stays in a window that is hardly wider than it', () => {
  expect(freePlace({ width: 380, height: 40 }, { width: 390, height: 800 }, [])).toMatchObject({ left: 8 });
});
