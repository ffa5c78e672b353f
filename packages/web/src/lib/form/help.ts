/** Words of schemas for people: help that helps, and names of variants. */

/** `GaussianFilter`, `gaussian_filter` → Gaussian filter. */
function spelledOut(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_\s]+/g, ' ')
    .trim();
  const lower = words.replace(/\b[A-Z][a-z]+\b/g, (word) => word.toLowerCase());
  return lower.charAt(0).toUpperCase() + lower.slice(1);
}

const SMALL_WORDS = new Set(['a', 'an', 'the', 'of', 'for', 'to', 'this', 'is', 'be', 'in']);
/** Written by generators of schemas where the author said nothing. */
const NOTHING_SAID = /^missing description\W*$/i;

const tellingWords = (text: string) =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !SMALL_WORDS.has(word))
    .map((word) => word.replace(/s$/, ''));

/** The description, unless it says no more than the label: "Overwrite." under "Overwrite" is noise. */
export function helpOf(description: string | undefined, label: string): string | undefined {
  if (description === undefined || NOTHING_SAID.test(description.trim())) return undefined;
  const known = new Set(tellingWords(spelledOut(label)));
  return tellingWords(description).every((word) => known.has(word)) ? undefined : description;
}

/** Names of classes stand in schemas where the author gave no title. */
const isCode = (title: string) => /[a-z\d][A-Z]|_/.test(title) && !title.includes(' ');

interface Named {
  title: string;
  tags: readonly unknown[];
}

function variantWords({ title, tags: [tag, ...more] }: Named): string {
  if (!isCode(title)) return title;
  return typeof tag === 'string' && more.length === 0 && !isCode(tag) ? tag : spelledOut(title);
}

/** What variants are called in a choice: by their titles, where these are no code; two with one name by their tags, too. */
export function variantNames(variants: readonly Named[]): string[] {
  const words = variants.map(variantWords);
  return words.map((word, at) => {
    const isOnlyOne = words.indexOf(word) === words.lastIndexOf(word);
    return isOnlyOne ? word : `${word} (${variants[at]!.tags.map(String).join(', ') || at + 1})`;
  });
}

/** What the choice of a variant is called: the title of its tag, `Method`; never the key. */
export const tagWords = (tag: string | undefined, title: string | undefined): string =>
  title ?? (tag === undefined ? 'Kind' : spelledOut(tag));
