/** Names in the chosen dataset, and those that earlier tasks will make, as suggestions for arguments that mean one. Typed values are as good as these. */
import type { DatasetContents } from '@service/contract';

import { inWords, ownOf } from '../json.ts';
import type { Made } from './made.ts';
import type { Meaning } from './meaning.ts';

export interface DataNames {
  contents?: Pick<DatasetContents, 'channels' | 'labels' | 'tables'> | undefined;
  /** Attributes of images with all their values. */
  attributes?: Readonly<Record<string, readonly unknown[]>> | undefined;
  /** What tasks before this one will make. */
  made?: readonly Made[] | undefined;
}

export interface Suggestion {
  value: string;
  /** What else it is called, or what kind of thing it is. */
  note?: string | undefined;
}

const inOrder = new Intl.Collator('en', { numeric: true });

/** Each once, in an order that people know. */
function sorted(suggestions: Suggestion[]): Suggestion[] {
  const byValue = new Map(suggestions.toReversed().map((one) => [one.value, one]));
  return [...byValue.values()].sort((a, b) => inOrder.compare(a.value, b.value));
}

type Contents = NonNullable<DataNames['contents']>;
type Channel = Contents['channels'][number];

const labelled = ({ label, wavelength_id }: Channel): Suggestion[] =>
  label === null ? [] : [{ value: label, note: wavelength_id ?? undefined }];
const byWavelength = ({ label, wavelength_id }: Channel): Suggestion[] =>
  wavelength_id === null ? [] : [{ value: wavelength_id, note: label ?? undefined }];

const TABLE_TYPES: Record<string, string> = {
  roi_table: 'ROIs',
  masking_roi_table: 'masking ROIs',
  feature_table: 'features',
  condition_table: 'conditions',
};

type Table = Contents['tables'][number];

const isMasking = ({ name, type }: Table) => (type === null ? /mask/i.test(name) : /masking/i.test(type));
const isRegions = ({ name, type }: Table) => /roi/i.test(type ?? name);

/** Those of the kind; all where none is, since types of tables are not always written. */
function tables(all: Table[], fits: (table: Table) => boolean): Suggestion[] {
  const fitting = all.filter(fits);
  return (fitting.length > 0 ? fitting : all).map(({ name, type }) => ({
    value: name,
    note: type === null ? undefined : TABLE_TYPES[type],
  }));
}

const texts = (values: readonly unknown[] = []): Suggestion[] => values.map((value) => ({ value: inWords(value) }));

function unsorted(meaning: Meaning, { contents, attributes }: DataNames): Suggestion[] {
  const known = contents ?? { channels: [], labels: [], tables: [] };
  switch (meaning.of) {
    case 'channel':
      return known.channels.flatMap((channel) => [...labelled(channel), ...byWavelength(channel)]);
    case 'channel label':
      return known.channels.flatMap(labelled);
    case 'wavelength':
      return known.channels.flatMap(byWavelength);
    case 'label image':
      return texts(known.labels);
    case 'table':
      return tables(known.tables, () => true);
    case 'ROI table':
      return tables(known.tables, isRegions);
    case 'masking ROI table':
      return tables(known.tables, isMasking);
    case 'attribute':
      return texts(Object.keys(attributes ?? {}));
    case 'value':
      return texts(attributes && ownOf(attributes, meaning.attribute));
  }
}

type Kind = Meaning['of'];

/** Which kinds of things that tasks make fit where another kind is wanted. */
const FITS: Partial<Record<Kind, readonly Kind[]>> = {
  channel: ['channel label', 'wavelength'],
  'channel label': ['channel'],
  table: ['ROI table', 'masking ROI table'],
  'ROI table': ['masking ROI table'],
};

const willBe = (meaning: Meaning, made: readonly Made[] = []): Suggestion[] =>
  made
    .filter(({ of }) => of === meaning.of || FITS[meaning.of]?.includes(of))
    .map(({ name, task }) => ({ value: name, note: `from task ${task}` }));

export const suggestionsFor = (meaning: Meaning | undefined, names: DataNames | undefined): Suggestion[] =>
  meaning === undefined || names === undefined
    ? []
    : sorted([...unsorted(meaning, names), ...willBe(meaning, names.made)]);

/** Tasks before this one may still make them. */
const MADE_BY_TASKS = new Set<Kind>(['label image', 'table', 'ROI table', 'masking ROI table']);
const CALLED: Partial<Record<Kind, string>> = { 'channel label': 'channel', wavelength: 'wavelength ID' };

export interface NotFound {
  text: string;
  /** The suggestion that was most likely meant. */
  instead: string | undefined;
}

const NEAR = 0.5;

/** How many letters have to be changed, added or left out. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const swap = row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(swap, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[other.length]!;
}

const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
const LONGEST = 100;
/** So many letters are the beginning of a name. */
const ENOUGH = 3;

function away(wanted: string, { value, note }: Suggestion): number {
  const offered = plain(value).slice(0, LONGEST);
  // called by its other name
  if (note !== undefined && plain(note) === wanted) return 0;
  const isPart = wanted.length >= ENOUGH && offered.startsWith(wanted);
  return isPart ? Math.min(1, distance(wanted, offered)) : distance(wanted, offered);
}

/** The nearest, unless another is as near or none is. */
function nearest(text: string, suggestions: readonly Suggestion[]): string | undefined {
  const wanted = plain(text).slice(0, LONGEST);
  const ranked = suggestions
    .map((one) => ({ value: one.value, away: away(wanted, one) }))
    .sort((a, b) => a.away - b.away);
  const [first, second] = ranked;
  if (first === undefined || first.away > Math.max(1, wanted.length * NEAR)) return undefined;
  return second?.away === first.away ? undefined : first.value;
}

/** What is said of a value that the dataset does not have. Undefined where it has it, or nothing is known. */
export function notFound(
  text: string,
  meaning: Meaning | undefined,
  suggestions: readonly Suggestion[],
): NotFound | undefined {
  if (meaning === undefined || text === '' || suggestions.length === 0) return undefined;
  if (suggestions.some(({ value }) => value === text)) return undefined;
  const thing = meaning.of === 'value' ? meaning.attribute : (CALLED[meaning.of] ?? meaning.of);
  const later = MADE_BY_TASKS.has(meaning.of) ? ' yet' : '';
  return { text: `No ${thing} “${text}” in this dataset${later}.`, instead: nearest(text, suggestions) };
}
