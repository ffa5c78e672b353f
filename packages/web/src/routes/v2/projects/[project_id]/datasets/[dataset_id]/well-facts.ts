/** What there is to say about the images of some wells: how many, what went wrong, which attributes and types they have. */
import {
  attributeKeys,
  isMixed,
  isNumeric,
  type ListedImage,
  typeKeys,
  valueKey,
  valueWords,
} from '#lib/images/filters.ts';
import { imageState } from '#lib/images/image-state.ts';
import { readWell } from '#lib/images/plates/plate.ts';
import { ownOf } from '#lib/json.ts';
import { counted, formatCount, formatNumber } from '#lib/format.ts';

export interface Fact {
  key: string;
  words: string;
}

const FEW = 4;
const GIVEN = ['plate', 'well'];

/** `200 to 1389`, `control, DMSO`, `12 values` */
function valuesInWords(values: unknown[]): string {
  const different = [...new Map(values.map((value) => [valueKey(value), value])).values()];
  if (different.length === 1) return valueWords(different[0]);
  if (isNumeric(different)) {
    const numbers = different.map((value) => Number(valueWords(value)));
    return `${formatNumber(Math.min(...numbers))} to ${formatNumber(Math.max(...numbers))}`;
  }
  const mixed = isMixed(different);
  const words = different
    .map(mixed ? valueKey : valueWords)
    .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
  return words.length <= FEW ? words.join(', ') : counted(words.length, 'value');
}

export function factsOf(images: readonly ListedImage[]): Fact[] {
  const keys = attributeKeys(
    Object.assign({}, ...images.map(({ attributes }) => attributes)) as object as Record<string, unknown>,
  );
  const types = typeKeys([], ...images.map((image) => image.types));
  return [
    ...keys
      .filter((key) => !GIVEN.includes(key))
      .map((key) => ({ key, words: valuesInWords(images.flatMap(({ attributes }) => ownOf(attributes, key) ?? [])) })),
    ...types.map((key) => {
      const count = images.filter((image) => image.types[key]).length;
      if (images.length === 1) return { key, words: String(count === 1) };
      const words =
        count === images.length ? 'all images' : `${formatCount(count)} of ${counted(images.length, 'image')}`;
      return { key, words };
    }),
  ];
}

/** Images that failed, in the order of the wells. */
export const troubles = (images: readonly ListedImage[]): ListedImage[] =>
  images.filter((image) => imageState(image).look === 'failed').sort((one, other) => wellOrder(one) - wellOrder(other));

function wellOrder({ attributes }: ListedImage): number {
  const cell = readWell(attributes['well']);
  return cell ? cell.row * 100 + cell.column : Number.MAX_SAFE_INTEGER;
}
