/**
 * Which images a task gets. Type filters move from task to task; attribute filters are the same for all tasks of a job.
 *
 *     passesTypes({ is_3D: true }, { is_3D: true, corrected: false })        // a type that is not there is false
 *     passesAttributes({ well: 'A01', cycle: 1.0 }, { cycle: [1, 2] })
 */
import type { Scalar } from '@service/contract';

import type { Flags } from './type-filters.ts';
import { scalarKey } from './values.ts';

/** Attribute filters may ask for the status of an image under this name, as if it were an attribute. */
export const STATUS_KEY = '__wftask_dataset_image_status__';

type Attributes = Record<string, Scalar>;
type AttributeFilters = Record<string, Scalar[]>;

export const passesTypes = (types: Flags, filters: Flags): boolean =>
  Object.keys(filters).every((key) => (Object.hasOwn(types, key) ? types[key] : false) === filters[key]);

/** For many images: the filters are read once. */
export function attributeTest(filters: AttributeFilters): (attributes: Attributes) => boolean {
  const wanted = Object.entries(filters).map(([key, values]) => [key, new Set(values.map(scalarKey))] as const);
  return (attributes) =>
    wanted.every(([key, values]) => Object.hasOwn(attributes, key) && values.has(scalarKey(attributes[key]!)));
}

/** `1`, `1.0` and `true` are one value, `"1"` is another. An attribute that is not there never passes. */
export const passesAttributes = (attributes: Attributes, filters: AttributeFilters): boolean =>
  attributeTest(filters)(attributes);

/** What a task takes: what the job has come to, overruled by the task, overruled by its place in the workflow. */
export const effectiveTypeFilters = (current: Flags, inputTypes: Flags, typeFilters: Flags): Flags => ({
  ...current,
  ...inputTypes,
  ...typeFilters,
});

/** What the job has come to after a task. */
export const nextTypeFilters = (current: Flags, outputTypes: Flags): Flags => ({ ...current, ...outputTypes });
