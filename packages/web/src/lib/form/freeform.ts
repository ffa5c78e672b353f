/**
 * Values without a schema, as entries that can be half-finished: a name that is still empty, a number that is still "-".
 * Entries are plain data; changing one makes new ones along the way.
 */
import { isObject, NumberAsWritten, typedNumber, writeJson } from '../json.ts';

export const ENTRY_TYPES = ['string', 'number', 'boolean', 'object', 'array', 'null'] as const;
export type EntryType = (typeof ENTRY_TYPES)[number];

export interface Entry {
  /** Stays with the entry, whatever is done to its siblings. */
  id: number;
  key: string;
  type: EntryType;
  /** What was typed, for strings and numbers. */
  text: string;
  on: boolean;
  entries: Entry[];
}

let lastId = 0;

export const newEntry = (type: EntryType = 'string', key = ''): Entry => ({
  id: ++lastId,
  key,
  type,
  text: '',
  on: false,
  entries: [],
});

function typeOf(value: unknown): EntryType {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (value instanceof NumberAsWritten) return 'number';
  return typeof value as EntryType;
}

export function entryOf(value: unknown, key = ''): Entry {
  const entry = newEntry(typeOf(value), key);
  if (typeof value === 'string') return { ...entry, text: value };
  if (entry.type === 'number') return { ...entry, text: writeJson(value) };
  if (typeof value === 'boolean') return { ...entry, on: value };
  if (Array.isArray(value)) return { ...entry, entries: value.map((item) => entryOf(item)) };
  if (!isObject(value)) return entry;
  return { ...entry, entries: Object.entries(value).map(([name, item]) => entryOf(item, name)) };
}

/** Changing the type begins anew. */
export const withType = (entry: Entry, type: EntryType): Entry => ({ ...newEntry(type, entry.key), id: entry.id });

/** What is wrong with single entries, by their id. */
export type EntryProblems = Map<number, string>;

export function problemsOf(root: Entry): EntryProblems {
  const problems: EntryProblems = new Map();
  const look = (entry: Entry) => {
    if (entry.type === 'number' && typedNumber(entry.text) === undefined) {
      problems.set(entry.id, 'Enter a number, for example -2.5 or 1e3.');
    }
    const names = new Set<string>();
    for (const child of entry.entries) {
      look(child);
      if (entry.type !== 'object') continue;
      if (child.key === '') problems.set(child.id, 'Enter a name.');
      else if (names.has(child.key)) problems.set(child.id, `“${child.key}” exists already. Use another name.`);
      names.add(child.key);
    }
  };
  look(root);
  return problems;
}

/** The value of entries without problems. */
export function valueOf(entry: Entry): unknown {
  switch (entry.type) {
    case 'string':
      return entry.text;
    case 'number':
      return typedNumber(entry.text);
    case 'boolean':
      return entry.on;
    case 'null':
      return null;
    case 'array':
      return entry.entries.map(valueOf);
    case 'object':
      return Object.fromEntries(entry.entries.map((child) => [child.key, valueOf(child)]));
  }
}
