/** What a picker offers and what is found in it. */
export interface Option {
  value: string;
  name: string;
  /** A word beside the name: "core", "not active". */
  note?: string | undefined;
}

/** How a choice behaves. */
export interface Rules {
  several: boolean;
  /** Whether one choice can be taken back. */
  clearable: boolean;
  /** Few options need no search: the list itself has the focus then. */
  searched: boolean;
  /** All that are found can be chosen at once. */
  all: boolean;
}

/** What the button of a choice is drawn with. */
export interface Face {
  open: boolean;
  toggle: () => void;
}

export const findOptions = (options: readonly Option[], text: string): Option[] => {
  const wanted = text.trim().toLowerCase();
  return options.filter(({ name, note }) => `${name} ${note ?? ''}`.toLowerCase().includes(wanted));
};

export function pickedWords(options: readonly Option[], picked: readonly string[], nothing: string): string {
  if (picked.length === 0) return nothing;
  const names = picked.map((value) => options.find((option) => option.value === value)?.name ?? value);
  return names.length > 2 ? `${names[0]} and ${names.length - 1} more` : names.join(', ');
}

/** Chosen where it was not, and the other way round; what is chosen keeps the order of choosing. */
export const toggled = (picked: readonly string[], value: string): string[] =>
  picked.includes(value) ? picked.filter((one) => one !== value) : [...picked, value];
