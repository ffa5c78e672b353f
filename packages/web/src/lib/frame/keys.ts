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

/** Ctrl K, or ⌘ K on a Mac. */
export const isFind = (event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>): boolean =>
  event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;

interface Shortcut {
  keys: string[];
  does: string;
}

/** As the list that `?` opens shows them. */
export const SHORTCUTS: { where: string; letters: boolean; shortcuts: Shortcut[] }[] = [
  {
    where: 'Everywhere',
    letters: false,
    shortcuts: [
      { keys: ['Ctrl', 'K'], does: 'Find a project, dataset, workflow, task or job' },
      { keys: ['Esc'], does: 'Close a dialog or menu' },
      { keys: ['Tab'], does: 'Next control; the first one skips to the content' },
    ],
  },
  {
    where: 'Single letters',
    letters: true,
    shortcuts: [
      { keys: ['?'], does: 'This list' },
      { keys: ['j'], does: 'Next row or task' },
      { keys: ['k'], does: 'Row or task before' },
      { keys: ['Enter'], does: 'Open it' },
      { keys: ['l'], does: 'Log' },
      { keys: ['f'], does: 'Next failed image' },
    ],
  },
  {
    where: 'Plates',
    letters: false,
    shortcuts: [
      { keys: ['←', '↑', '→', '↓'], does: 'Walk from well to well' },
      { keys: ['Space'], does: 'Select the well' },
      { keys: ['Shift', '→'], does: 'Select while walking' },
    ],
  },
];
