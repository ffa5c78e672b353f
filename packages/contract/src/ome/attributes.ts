/** Attributes that files hold: JSON of any shape, of which only what can be used is taken. */

export type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

export const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** Since version 0.5 the metadata of OME lies under a key of its own. */
export const omeOf = (attributes: unknown): Json =>
  isObject(attributes) ? (isObject(attributes['ome']) ? attributes['ome'] : attributes) : {};
