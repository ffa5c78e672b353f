/**
 * Text as it is meant: what people paste carries blanks at its ends, letters in two parts and signs that nobody sees, and
 * two names that look alike would not be the same.
 *
 *     clean({ name: ' plate\u200b 1' }) // { value: { name: 'plate 1' }, changed: ['name'] }
 */
import { isObject } from '../json.ts';

const UNSEEN = /[\u200b-\u200d\ufeff]/g;

export const cleanText = (text: string): string => text.normalize('NFC').replace(UNSEEN, '').trim();

export interface Cleaned {
  value: unknown;
  /** Paths of what is not as it was typed. */
  changed: string[];
}

export function clean(given: unknown): Cleaned {
  const changed: string[] = [];
  const at = (path: string, key: string | number) => (path === '' ? String(key) : `${path}.${key}`);
  const visit = (value: unknown, path: string): unknown => {
    if (typeof value === 'string') {
      const text = cleanText(value);
      if (text !== value) changed.push(path);
      return text;
    }
    if (Array.isArray(value)) return value.map((one, index) => visit(one, at(path, index)));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => {
        const name = cleanText(key);
        const place = at(path, name);
        if (name !== key) changed.push(place);
        // a blank in a password is meant
        return [name, name === 'password' ? one : visit(one, place)];
      }),
    );
  };
  return { value: visit(given, ''), changed };
}
