/** In lists that are walked by letters and arrows, a letter is theirs. */
export const isInWidget = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('[role=listbox], [role=menu], [role=combobox]') !== null;
