/** What the keys of the viewer do. Letters can be switched off; the others count while the picture has the focus. */

export type Deed =
  | { do: 'zoom'; factor: number }
  | { do: 'fit' }
  | { do: 'full' }
  | { do: 'play' }
  | { do: 'well'; step: 1 | -1 }
  | { do: 'field'; step: 1 | -1 }
  | { do: 'plane'; step: 1 | -1 }
  | { do: 'time'; step: 1 | -1 }
  | { do: 'plane end'; last: boolean }
  | { do: 'move'; x: number; y: number }
  | { do: 'channel'; channel: number }
  | { do: 'hide labels' }
  | { do: 'measure' }
  | { do: 'let go' };

type Key = Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'>;

const MOVE = 80;

const LETTERS: Record<string, Deed> = {
  '+': { do: 'zoom', factor: 2 },
  '=': { do: 'zoom', factor: 2 },
  '-': { do: 'zoom', factor: 0.5 },
  '−': { do: 'zoom', factor: 0.5 },
  '0': { do: 'fit' },
  z: { do: 'full' },
  ',': { do: 'well', step: -1 },
  '.': { do: 'well', step: 1 },
  '[': { do: 'field', step: -1 },
  ']': { do: 'field', step: 1 },
  o: { do: 'hide labels' },
  r: { do: 'measure' },
};

const ARROWS: Record<string, Deed> = {
  ArrowUp: { do: 'plane', step: 1 },
  ArrowDown: { do: 'plane', step: -1 },
  ArrowLeft: { do: 'time', step: -1 },
  ArrowRight: { do: 'time', step: 1 },
  Home: { do: 'plane end', last: false },
  End: { do: 'plane end', last: true },
  ' ': { do: 'play' },
  Escape: { do: 'let go' },
};

const MOVES: Record<string, Deed> = {
  ArrowUp: { do: 'move', x: 0, y: MOVE },
  ArrowDown: { do: 'move', x: 0, y: -MOVE },
  ArrowLeft: { do: 'move', x: MOVE, y: 0 },
  ArrowRight: { do: 'move', x: -MOVE, y: 0 },
};

/** A key that is no letter, for the picture that has the focus. */
export function deedOfPicture({ key, shiftKey, ctrlKey, metaKey, altKey }: Key): Deed | undefined {
  if (ctrlKey || metaKey || altKey) return undefined;
  return shiftKey ? MOVES[key] : ARROWS[key];
}

/** A single letter, sign or digit, for the page. */
export function deedOfLetter({ key }: Key): Deed | undefined {
  if (/^[1-9]$/.test(key)) return { do: 'channel', channel: Number(key) - 1 };
  return LETTERS[key.length === 1 ? key.toLowerCase() : key];
}
