/** What a picker offers and what is found in it. */
export interface Option {
  value: string;
  name: string;
  /** A word beside the name: "core", "not active". */
  note?: string | undefined;
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
