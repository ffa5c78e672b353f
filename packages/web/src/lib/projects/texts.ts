/** Long descriptions, names of copies, and bodies without what was left empty. */

const LONGEST = 60;
const SHORTENED = 50;

/** A description that is cut says so; one that is a little too long is left as it is. */
export const shortened = (text: string): string | undefined =>
  text.length > LONGEST ? `${text.slice(0, SHORTENED).trimEnd()}…` : undefined;

const COPY = /_copy(_\d+)?$/;

/** `Nuclei_copy`, then `Nuclei_copy_1`; the copy of a copy is another copy of the first. */
export function copyName(name: string, taken: readonly string[]): string {
  const base = `${name.replace(COPY, '')}_copy`;
  if (!taken.includes(base)) return base;
  let number = 1;
  while (taken.includes(`${base}_${number}`)) number += 1;
  return `${base}_${number}`;
}

const isEmpty = (value: unknown) => value === undefined || (typeof value === 'string' && value.trim() === '');

/** For what is made: what was left empty is not sent. */
export const withoutEmpty = <T extends object>(fields: T): { [Key in keyof T]?: NonNullable<T[Key]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value))) as never;

/** For what is changed: an emptied text is taken away. */
export const emptyAsNull = (text: string): string | null => (isEmpty(text) ? null : text);
