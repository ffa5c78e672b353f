/**
 * The form of one image, and what of it is sent. What somebody typed stays as text until it is sent, so that changing the
 * kind of a value loses nothing.
 *
 *     const form = formOf(image);
 *     const { problems, attributes, types } = readForm(form, zarrDir);
 */
import type { Scalar } from '@service/contract';

import { attributeKeys, type ListedImage, valueWords } from '#lib/images/filters.ts';
import { typedNumber } from '#lib/json.ts';

export type Kind = 'text' | 'number' | 'flag';

export interface AttributeLine {
  id: number;
  key: string;
  kind: Kind;
  text: string;
  flag: boolean;
}

export interface TypeLine {
  id: number;
  key: string;
  flag: boolean;
}

export interface ImageForm {
  url: string;
  attributes: AttributeLine[];
  types: TypeLine[];
}

let last = 0;

export const newAttribute = (key = '', value?: unknown): AttributeLine => ({
  id: ++last,
  key,
  kind: value === undefined || typeof value === 'string' ? 'text' : typeof value === 'boolean' ? 'flag' : 'number',
  text: valueWords(value),
  flag: value === true,
});

export const newType = (key = '', flag = true): TypeLine => ({ id: ++last, key, flag });

/** Without an image it is the form of a new one: its path begins with the folder of the dataset. */
export const formOf = (image: ListedImage | undefined, zarrDir: string): ImageForm => ({
  url: image?.zarr_url ?? `${zarrDir.replace(/\/*$/, '')}/`,
  attributes: attributeKeys(image?.attributes ?? {}).map((key) => newAttribute(key, image?.attributes[key])),
  types: Object.entries(image?.types ?? {}).map(([key, flag]) => newType(key, flag)),
});

/** Problems by line: `url`, `key-3`, `value-3`. */
export type Problems = Record<string, string>;

function urlProblem(url: string, zarrDir: string): string | undefined {
  const folder = `${zarrDir.replace(/\/*$/, '')}/`;
  const path = url.trim();
  if (path === '' || path === folder) return 'Enter the path of the image.';
  if (!path.startsWith(folder)) return `The image must be inside ${zarrDir}.`;
  if (path.endsWith('/')) return 'Leave out the slash at the end.';
  return undefined;
}

const same = (key: string) => key.normalize('NFC').trim();

function keyProblems(lines: { id: number; key: string }[], noun: string): Problems {
  const problems: Problems = {};
  const seen = new Set<string>();
  for (const { id, key } of lines) {
    const name = same(key);
    if (name === '') problems[`key-${id}`] = `Name the ${noun}, or remove this line.`;
    else if (seen.has(name)) problems[`key-${id}`] = `There is another ${noun} ${name}. Keep one of them.`;
    seen.add(name);
  }
  return problems;
}

export const valueOf = ({ kind, text, flag }: AttributeLine): Scalar | undefined =>
  kind === 'text' ? text : kind === 'flag' ? flag : typedNumber(text);

export function attributeProblems(lines: AttributeLine[]): Problems {
  const problems = keyProblems(lines, 'attribute');
  for (const line of lines)
    if (valueOf(line) === undefined)
      problems[`value-${line.id}`] =
        line.text.trim() === ''
          ? 'Enter a number.'
          : `${line.text.trim()} is not a number. Enter one such as -3 or 0.5.`;
  return problems;
}

/** Empty problems: it can be sent. */
export function readForm(form: ImageForm, zarrDir: string, isNew: boolean) {
  const url = isNew ? urlProblem(form.url, zarrDir) : undefined;
  return {
    problems: {
      ...(url === undefined ? {} : { url }),
      ...attributeProblems(form.attributes),
      ...keyProblems(form.types, 'type'),
    } as Problems,
    zarr_url: isNew ? form.url.trim() : form.url,
    attributes: Object.fromEntries(form.attributes.map((line) => [same(line.key), valueOf(line)!])),
    types: Object.fromEntries(form.types.map(({ key, flag }) => [same(key), flag])),
  };
}
