/**
 * Keys that work without a field: single letters can be switched off, since they get in the way of people who speak to
 * their computer or whose hands shake.
 *
 *     if (event.key === 'f' && isForPage(event)) nextFailed();
 */
const KEY = 'single-letters';

/** True unless the reader switched single letters off in this browser. */
export const lettersOn = (): boolean => localStorage.getItem(KEY) !== 'off';

export const setLetters = (on: boolean): void => (on ? localStorage.removeItem(KEY) : localStorage.setItem(KEY, 'off'));

const FIELDS = 'input, textarea, select, [contenteditable=""], [contenteditable="true"], [role="textbox"]';

/** Whether a single letter is meant for the page: not for a field, not for a dialog over it, not for the browser. */
export function isForPage(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
  if (event.target instanceof Element && event.target.closest(FIELDS) !== null) return false;
  return document.querySelector('dialog:modal') === null && lettersOn();
}

/** In lists that are walked by letters and arrows, a letter is theirs. */
export const isInWidget = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('[role=listbox], [role=menu], [role=combobox]') !== null;
