/** Filters for values that no image has any more, as after the last image of a plate was removed. */
import { changed, type ImagesQuery, valueKey } from '#lib/images/filters.ts';
import { ownOf } from '#lib/json.ts';

/** The query without them; undefined when there are none. */
export function forgetGone(query: ImagesQuery, attributes: Record<string, unknown[]>): ImagesQuery | undefined {
  const there = (key: string, value: unknown) =>
    (ownOf(attributes, key) ?? []).some((one) => valueKey(one) === valueKey(value));
  const kept = Object.entries(query.attributes)
    .map(([key, values]) => [key, values.filter((value) => there(key, value))] as const)
    .filter(([, values]) => values.length > 0);
  const before = Object.values(query.attributes).flat().length;
  const after = kept.flatMap(([, values]) => values).length;
  return before === after ? undefined : changed(query, { attributes: Object.fromEntries(kept) });
}
