/** Single letters are commands only while nobody writes or chooses. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  target.closest('input, textarea, select, [contenteditable], dialog, [role=listbox], [role=menu], [role=combobox]') !==
    null;
