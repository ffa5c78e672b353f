/** One task by hand: which fields its kind has, what is wrong, and what is sent. */
import type { TaskType } from '@service/contract';

import type { JsonObject } from '../json.ts';
import { type Phase, phasesOf } from '../phases.ts';
import type { Problems } from './collect.ts';
import { detectDialect } from './dialects.ts';

/** Converters make images out of other files: they take no images. */
export const takesImages = (type: TaskType): boolean => !type.startsWith('converter');

export interface Flag {
  key: string;
  value: boolean;
}

export interface SingleFields {
  type: TaskType;
  name: string;
  version: string;
  commands: Record<Phase, string>;
  metas: Partial<Record<Phase, JsonObject>>;
  schemas: Partial<Record<Phase, JsonObject>>;
  /** Empty: the one that was detected. */
  dialect: string;
  input_types: Flag[];
  output_types: Flag[];
  docs_info: string;
  docs_link: string;
}

export const emptySingle = (): SingleFields => ({
  type: 'parallel',
  name: '',
  version: '',
  commands: { non_parallel: '', parallel: '' },
  metas: {},
  schemas: {},
  dialect: '',
  input_types: [],
  output_types: [],
  docs_info: '',
  docs_link: '',
});

const usedSchemas = ({ type, schemas }: Pick<SingleFields, 'type' | 'schemas'>): JsonObject[] =>
  phasesOf(type)
    .map((phase) => schemas[phase])
    .filter((schema) => schema !== undefined);

/** The dialect of the chosen schemas, if there are any and if it is known. */
export const detected = (fields: Pick<SingleFields, 'type' | 'schemas'>): string | undefined => {
  const used = usedSchemas(fields);
  return used.length === 0 ? undefined : detectDialect(used);
};

export function flagProblem(flags: readonly Flag[]): string | undefined {
  const keys = flags.map(({ key }) => key.trim());
  if (keys.includes('')) return 'Give each type a name, such as 3D.';
  const twice = keys.find((key, index) => keys.indexOf(key) < index);
  return twice === undefined ? undefined : `${twice} is listed twice.`;
}

export const flagMap = (flags: readonly Flag[]): Record<string, boolean> =>
  Object.fromEntries(flags.map(({ key, value }) => [key.trim(), value]));

export const flagsOf = (map: Record<string, boolean>): Flag[] =>
  Object.entries(map).map(([key, value]) => ({ key, value }));

export function singleProblems(fields: SingleFields): Problems {
  const problems: Problems = {};
  if (fields.name.trim() === '') problems['name'] = 'Enter a name for the task.';
  if (fields.version.trim() === '') problems['version'] = 'Enter a version.';
  for (const phase of phasesOf(fields.type)) {
    if (fields.commands[phase].trim() === '') problems[`command_${phase}`] = 'Enter the command that starts the task.';
  }
  const wrong = { input_types: flagProblem(fields.input_types), output_types: flagProblem(fields.output_types) };
  if (wrong.input_types && takesImages(fields.type)) problems['input_types'] = wrong.input_types;
  if (wrong.output_types) problems['output_types'] = wrong.output_types;
  if (fields.docs_link.trim() !== '' && !/^https?:\/\/\S+$/.test(fields.docs_link.trim()))
    problems['docs_link'] = 'Enter an address that begins with http:// or https://.';
  for (const phase of phasesOf(fields.type)) {
    const schema = fields.schemas[phase];
    if (schema && fields.dialect === '' && detectDialect([schema]) === undefined)
      problems[`args_schema_${phase}`] =
        'This is not a schema as pydantic writes them. Choose its kind below if you know it.';
  }
  return problems;
}

export function singleBody(fields: SingleFields) {
  const phases = phasesOf(fields.type);
  const each = <T>(prefix: string, value: (phase: Phase) => T | undefined) =>
    Object.fromEntries(
      phases.flatMap((phase) => {
        const found = value(phase);
        return found === undefined ? [] : [[`${prefix}_${phase}`, found]];
      }),
    );
  const dialect = fields.dialect === '' ? detected(fields) : fields.dialect;
  const text = (name: 'docs_info' | 'docs_link') => (fields[name].trim() === '' ? {} : { [name]: fields[name].trim() });
  return {
    name: fields.name.trim(),
    version: fields.version.trim(),
    type: fields.type,
    ...each('command', (phase) => fields.commands[phase].trim()),
    ...each('meta', (phase) => fields.metas[phase]),
    ...each('args_schema', (phase) => fields.schemas[phase]),
    ...(usedSchemas(fields).length > 0 && dialect !== undefined ? { args_schema_version: dialect } : {}),
    ...(takesImages(fields.type) && fields.input_types.length > 0 ? { input_types: flagMap(fields.input_types) } : {}),
    ...(fields.output_types.length > 0 ? { output_types: flagMap(fields.output_types) } : {}),
    ...text('docs_info'),
    ...text('docs_link'),
  };
}
