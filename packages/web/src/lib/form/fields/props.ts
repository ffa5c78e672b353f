/** What every field gets. Fields that hold others draw them with `getFieldView()`, which knows all kinds. */
import { type Component, createContext, type Snippet } from 'svelte';

import { type Field, type FieldOf } from '../field.ts';
import { isObject } from '../../json.ts';
import { type Schema } from '../schema.ts';

export interface FieldProps {
  schema: Schema;
  /** Where the value is, for messages. */
  path: string;
  value: unknown;
  set: (value: unknown) => void;
  /** What is seen above the field; items of lists may have none. */
  label: string;
  /** What assistive technology says besides the label, for example "Channels 2". */
  name?: string;
  required?: boolean;
  /** Arguments of the task itself, which can be reset to their default. */
  top?: boolean;
  /** Blocks are open when they are required, unless whoever holds them knows better. */
  startOpen?: boolean | undefined;
  /** Buttons of whoever holds this field: remove, move. */
  actions?: Snippet | undefined;
}

/** The same for a field of one kind. */
export type KindProps<K extends Field['kind']> = FieldProps & { field: FieldOf<K> };

export const [getFieldView, provideFieldView] = createContext<Component<FieldProps>>();

/** Whether a field of this kind can show a value; null is always possible, as "not set". */
export function canShow(field: Field, value: unknown): boolean {
  if (value === null || value === undefined || field.kind === 'unsupported') return true;
  if (field.kind === 'list' || field.kind === 'tuple') return Array.isArray(value);
  if (field.kind === 'object') return isObject(value);
  if (field.kind === 'variants') return field.tag === undefined || isObject(value);
  if (field.kind === 'boolean') return typeof value === 'boolean';
  return field.kind === 'choice' || field.kind === 'constant' || !(isObject(value) || Array.isArray(value));
}
