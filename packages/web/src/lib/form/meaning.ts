/**
 * What an argument names in the data, by the names that task packages give to arguments.
 *
 *   meaningOf(['channel', 'wavelength_id'])                               // { of: 'wavelength' }
 *   meaningOf(['channel', 'identifier'], { beside: { mode: 'label' } })   // { of: 'channel label' }
 *   meaningOf(['output_label_name'])                                      // undefined: the task makes it
 *
 * It decides about suggestions only, so a wrong guess costs a list that nobody needs: any value may be typed.
 */
import { isObject, type JsonObject, keysOf } from '../json.ts';

export type Meaning =
  | {
      of:
        | 'channel'
        | 'channel label'
        | 'wavelength'
        | 'label image'
        | 'table'
        | 'ROI table'
        | 'masking ROI table'
        | 'attribute';
    }
  /** A value of this attribute of images. */
  | { of: 'value'; attribute: string };

/** Where an argument is, besides the names that lead to it. */
export interface Surroundings {
  default?: unknown;
  /** What else is in the object that holds it: some say there what an identifier identifies. */
  readonly beside?: JsonObject | undefined;
}

/** `inputROI_tableName` → input, roi, table, name. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
    .map((word) => (PLURALS.has(word) ? word.slice(0, -1) : word));

const PLURALS = new Set([
  'channels',
  'labels',
  'tables',
  'wells',
  'plates',
  'attributes',
  'wavelengths',
  'acquisitions',
  'names',
  'ids',
  'identifiers',
  'images',
  'rois',
]);

/** What a task makes is new: what is there already is no suggestion for its name. */
const MAKES = new Set(['output', 'new', 'create', 'add', 'out', 'target', 'destination']);
/** A name with a part that the task fills in is one that it makes. */
const TEMPLATE = /\{\w+\}/;

/** Words that say no more than that it is a name. */
const NAMING = new Set(['name', 'id', 'identifier', 'key', 'value']);

const endsWith = (words: readonly string[], ...ends: string[]) => {
  const last = words.findLast((word) => !NAMING.has(word));
  return last !== undefined && ends.includes(last);
};

const ATTRIBUTES = ['plate', 'well', 'acquisition'];

function byWords(words: readonly string[], inChannel: boolean): Meaning | undefined {
  if (words.includes('wavelength')) return { of: 'wavelength' };
  if (words.includes('channel') && endsWith(words, 'label')) return { of: 'channel label' };
  if (endsWith(words, 'channel')) return { of: 'channel' };
  if (endsWith(words, 'table')) {
    if (words.includes('masking')) return { of: 'masking ROI table' };
    return { of: words.includes('roi') ? 'ROI table' : 'table' };
  }
  if (endsWith(words, 'label')) return { of: inChannel ? 'channel label' : 'label image' };
  if (words.includes('label') && endsWith(words, 'image')) return { of: 'label image' };
  if (endsWith(words, 'attribute')) return { of: 'attribute' };
  const attribute = ATTRIBUTES.find((name) => endsWith(words, name));
  return attribute === undefined ? undefined : { of: 'value', attribute };
}

const MOST_WORDS = 3;

/**
 * An identifier is what the value beside it says: `mode: wavelength_id`, `masking_source: Label Name`; null where it is a
 * number, undefined where nothing is said.
 */
function bySaying(beside: JsonObject, inChannel: boolean, inMask: boolean): Meaning | null | undefined {
  for (const [key, said] of Object.entries(beside)) {
    const words = typeof said === 'string' && !NAMING.has(key) ? wordsOf(said) : [];
    if (words.length === 0 || words.length > MOST_WORDS) continue;
    if (words.includes('index')) return null;
    const meaning = byWords(words, inChannel);
    if (meaning?.of === 'table' && inMask) return { of: 'masking ROI table' };
    if (meaning !== undefined) return meaning;
  }
  return undefined;
}

/** The names in a path; places in lists are none. */
export const namesOf = (path: string): string[] => keysOf(path).filter((key) => !/^\d+$/.test(key));

type Words = readonly (readonly string[])[];

function means(words: Words, around: Surroundings): Meaning | undefined {
  const own = words.at(-1) ?? [];
  const within = words.slice(0, -1).flat();
  const inChannel = within.includes('channel');
  if (own.length === 0 || !own.every((word) => NAMING.has(word))) return byWords(own, inChannel);
  const inMask = within.some((word) => word.startsWith('mask'));
  const said = bySaying(around.beside ?? {}, inChannel, inMask);
  return said === undefined ? byWords(words.at(-2) ?? [], inChannel) : (said ?? undefined);
}

const isTemplate = (value: unknown): boolean => typeof value === 'string' && TEMPLATE.test(value);
const isMade = (words: Words, around: Surroundings): boolean =>
  words.some((one) => one.some((word) => MAKES.has(word))) || isTemplate(around.default);

/** `names` lead from the arguments of the task to the value. */
export function meaningOf(names: readonly string[], around: Surroundings = {}): Meaning | undefined {
  const words = names.map(wordsOf);
  return isMade(words, around) ? undefined : means(words, around);
}

/** What the value names when it is something that the task makes; undefined: the task finds it, or it is no name. */
export function meaningOfMade(names: readonly string[], around: Surroundings = {}): Meaning | undefined {
  const words = names.map(wordsOf);
  if (!isMade(words, around)) return undefined;
  const what = words.map((one) => one.filter((word) => !MAKES.has(word)));
  const meaning = means(what, around);
  // what holds it may say more: `create_masking_roi_table/table_name`
  const outer = meaning?.of === 'table' ? means(what.slice(0, -1), around) : undefined;
  return outer?.of.endsWith('table') ? outer : meaning;
}

/** What the names of entries mean, which a description tells: "keys match the wavelength_id of channels". */
export function meaningOfKeys(description: string | undefined): Meaning | undefined {
  const [, about] = /\bkeys?\b([^.]{0,80})/i.exec(description ?? '') ?? [];
  if (about === undefined) return undefined;
  if (/wavelength/i.test(about)) return { of: 'wavelength' };
  if (/\bchannel/i.test(about)) return { of: 'channel' };
  return /\blabel/i.test(about) ? { of: 'label image' } : undefined;
}

/** Which knowledge a schema has use for: what is in the files of images, and what the list says of them. */
export interface Wanted {
  contents: boolean;
  attributes: boolean;
}

const isOfList = ({ of }: Meaning) => of === 'value' || of === 'attribute';

/** From the names alone, wherever they are in the schema: it may be asked for in vain, and never missed. */
export function wantedBy(schema: unknown): Wanted {
  const wanted: Wanted = { contents: false, attributes: false };
  const note = (meaning: Meaning | undefined) => {
    if (meaning !== undefined) wanted[isOfList(meaning) ? 'attributes' : 'contents'] = true;
  };
  const look = (part: unknown): void => {
    if (Array.isArray(part)) return part.forEach(look);
    if (!isObject(part)) return;
    if (isObject(part['properties'])) {
      const names = Object.keys(part['properties']);
      for (const name of names) note(meaningOf([name]));
      if (names.includes('identifier')) wanted.contents = true;
    }
    if (typeof part['description'] === 'string') note(meaningOfKeys(part['description']));
    Object.values(part).forEach(look);
  };
  look(schema);
  return wanted;
}
