/** The keys of the frame, and the list of all keys that `?` opens. */
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
      { keys: ['k'], does: 'Previous row or task' },
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
      { keys: ['Enter'], does: 'Open the well in the viewer' },
    ],
  },
  {
    where: 'Pictures of plates',
    letters: true,
    shortcuts: [
      { keys: ['1', '9'], does: 'Switch a channel' },
      { keys: ['p', 's', 'a', 'm'], does: 'Show pictures, status, an attribute or a measurement' },
    ],
  },
  {
    where: 'Viewer',
    letters: true,
    shortcuts: [
      { keys: [',', '.'], does: 'Previous and next well' },
      { keys: ['[', ']'], does: 'Previous and next field' },
      { keys: ['↑', '↓'], does: 'Plane' },
      { keys: ['←', '→'], does: 'Time' },
      { keys: ['Space'], does: 'Play the time series' },
      { keys: ['Shift', '→'], does: 'Move the picture' },
      { keys: ['+', '−'], does: 'Zoom' },
      { keys: ['0'], does: 'Fit' },
      { keys: ['z'], does: '100 %' },
      { keys: ['1', '9'], does: 'Switch a channel; hold to see it alone' },
      { keys: ['o'], does: 'Hide labels while held' },
      { keys: ['r'], does: 'Begin and end a measurement at the pointer, or at the cross in the middle' },
    ],
  },
];
