/** Which blocks of arguments a task has, and how each is shown. */
import type { TaskType } from '@service/contract';

import { isObject, ownOf, sameJson, under } from '../json.ts';
import { ofPhase, phasesOf } from '../phases.ts';
import { fieldOf } from './field.ts';
import { isImportant } from './important.ts';
import { startValue } from './initial.ts';
import { type Dialect, dialectOf, prepareSchema, type PreparedSchema, SchemaProblem } from './schema.ts';
import { dataToSend } from './sent.ts';
import { type Errors } from './validate.ts';

export interface TaskSchemas {
  type: TaskType;
  args_schema_version: string | null;
  args_schema_non_parallel: unknown;
  args_schema_parallel: unknown;
}

export interface ArgumentValues {
  args_non_parallel?: unknown;
  args_parallel?: unknown;
}

export type BlockName = keyof ArgumentValues;

/** One block after a change: what would be sent, and whether everything on the screen is in it. */
export interface BlockState {
  data: unknown;
  valid: boolean;
  readable: boolean;
}

/** What a block's form can be asked. */
export interface FormHandle {
  current(): BlockState;
  flush(): void;
}

/** What the page is told after every change. */
export interface ArgumentsChange {
  /** The blocks of this task, as they would be sent. */
  values: ArgumentValues;
  /** Differs from what is saved. */
  changed: boolean;
  valid: boolean;
  /** Everything on the screen is in the values. */
  readable: boolean;
}

type BlockView = { kind: 'form'; prepared: PreparedSchema } | { kind: 'free' } | { kind: 'json'; problem: string };

export interface ArgumentsBlock {
  name: BlockName;
  heading: string;
  view: BlockView;
  /** There is something to fill in. */
  visible: boolean;
}

function viewOf(schema: unknown, dialect: Dialect | undefined): BlockView {
  if (dialect === undefined || schema === null || schema === undefined) return { kind: 'free' };
  try {
    return { kind: 'form', prepared: prepareSchema(schema, dialect) };
  } catch (problem) {
    if (!(problem instanceof SchemaProblem)) throw problem;
    return { kind: 'json', problem: problem.message };
  }
}

function hasFields(prepared: PreparedSchema, value: unknown): boolean {
  const field = fieldOf(prepared.root, prepared);
  if (field.kind !== 'object') return true;
  return (
    field.properties.length > 0 || isObject(field.additional) || (isObject(value) && Object.keys(value).length > 0)
  );
}

export function blocksOf(task: TaskSchemas, values: ArgumentValues): ArgumentsBlock[] {
  const dialect = dialectOf(task.args_schema_version);
  const phases = phasesOf(task.type);
  return phases.map((phase) => {
    const name = `args_${phase}` as const;
    const schema = task[`args_schema_${phase}`];
    const view = viewOf(schema, dialect);
    const visible = view.kind !== 'form' || hasFields(view.prepared, values[name]);
    return { name, heading: ofPhase('Arguments', phase, phases), view, visible };
  });
}

/** Headings tell two blocks apart; one block alone needs none unless it is half of a compound task. */
export const needHeadings = (blocks: ArgumentsBlock[]): boolean =>
  blocks.length === 2 && (blocks.every(({ visible }) => visible) || blocks.some(({ view }) => view.kind === 'free'));

/** Whether data of a form differ from what is saved, as both would be sent. */
export const differs = (prepared: PreparedSchema, data: unknown, saved: unknown): boolean =>
  !sameJson(dataToSend(prepared, data).data, dataToSend(prepared, saved ?? {}).data);

/** Short forms show everything. */
const FEW = 6;

/** Optional arguments at their default, which fold away as "Advanced": never one that is changed, wrong or important. */
export function advancedKeys(prepared: PreparedSchema, data: unknown, errors: Errors): string[] {
  const field = fieldOf(prepared.root, prepared);
  if (field.kind !== 'object' || field.properties.length <= FEW || !isObject(data)) return [];
  return field.properties
    .filter(({ key, schema, required }) => {
      if (required || errors.within.has(under('', key))) return false;
      const value = ownOf(data, key);
      if (isImportant(schema, prepared, [key], value)) return false;
      const unset = prepared.legacy && (value === null || value === undefined);
      return unset || sameJson(value, startValue(schema, prepared, { required: false, open: [] }));
    })
    .map(({ key }) => key);
}
