/** The images of a well: fields of one kind, and other kinds of the same place, such as raw, corrected and projected. */
import type { Image } from '@service/contract';

import { valueWords } from '../images/filters.ts';

export type WellImage = Pick<Image, 'zarr_url' | 'attributes' | 'types' | 'origin'>;

const inOrder = new Intl.Collator('en', { numeric: true });

/** Images with the same types and of one acquisition are fields of each other. */
const kindKey = ({ types, attributes }: WellImage): string =>
  JSON.stringify([
    Object.entries(types)
      .filter(([, is]) => is)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
    valueWords(attributes['acquisition'] ?? null),
  ]);

/** `3D, corrected` */
export function kindWords({ types, attributes }: WellImage): string {
  const words = Object.entries(types)
    .filter(([, is]) => is)
    .map(([name]) => name.replace(/^is_/, '').replaceAll('_', ' '));
  const acquisition = attributes['acquisition'];
  return [...words, ...(acquisition === undefined ? [] : [`acquisition ${valueWords(acquisition)}`])].join(', ');
}

export const lastPart = (zarrUrl: string): string => zarrUrl.slice(zarrUrl.lastIndexOf('/') + 1);

/** In their order. */
export function fieldsOf(images: readonly WellImage[], shown: string): WellImage[] {
  const own = images.find(({ zarr_url }) => zarr_url === shown);
  if (!own) return [];
  return images
    .filter((image) => kindKey(image) === kindKey(own))
    .sort((one, other) => inOrder.compare(one.zarr_url, other.zarr_url));
}

/** Of each kind the image that is at the same place among its fields. */
export function kindsOf(images: readonly WellImage[], shown: string): WellImage[] {
  const at = Math.max(
    0,
    fieldsOf(images, shown).findIndex(({ zarr_url }) => zarr_url === shown),
  );
  const kinds = new Map(images.map((image) => [kindKey(image), image]));
  return [...kinds.values()].map(({ zarr_url }) => {
    const fields = fieldsOf(images, zarr_url);
    return fields[Math.min(at, fields.length - 1)]!;
  });
}

/** The image of another well that is like the one that is shown: of its kind, and the same field. */
export function likeIn(
  images: readonly WellImage[],
  shown: WellImage | undefined,
  field: number,
): WellImage | undefined {
  const kind = shown && kindKey(shown);
  const own = images.find((image) => kindKey(image) === kind) ?? images[0];
  if (!own) return undefined;
  const fields = fieldsOf(images, own.zarr_url);
  return fields[Math.min(field, fields.length - 1)];
}
