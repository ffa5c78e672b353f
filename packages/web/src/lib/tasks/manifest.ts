/**
 * Reads the manifest of a package from a file, and says what is wrong with it before it is sent.
 *
 *     readManifest('{"manifest_version": "1"}') // { problem: 'This manifest has version 1; …' }
 */
import { dialectOf } from '../form/schema.ts';
import { isObject, type JsonObject, JsonSyntaxError, parseJson, writeJson } from '../json.ts';
import { TYPE_NAMES } from './words.ts';

export type Manifest = { value: JsonObject; tasks: string[] } | { problem: string };

const PHASES = ['non_parallel', 'parallel'] as const;

const given = (value: unknown) => value !== null && value !== undefined;
const written = (value: unknown) => (typeof value === 'string' ? value : writeJson(value));

function phaseProblem(task: JsonObject, phase: (typeof PHASES)[number], hasSchemas: boolean): string | undefined {
  const executable = given(task[`executable_${phase}`]);
  const schema = task[`args_schema_${phase}`];
  if (given(schema) && !isObject(schema)) return `has an args_schema_${phase} that is not an object`;
  if (given(schema) && !executable) return `has args_schema_${phase}, but no executable_${phase}`;
  return hasSchemas && executable && !given(schema) ? `has no args_schema_${phase}` : undefined;
}

/** What is wrong with one of its tasks. */
function taskProblem(task: unknown, hasSchemas: boolean): string | undefined {
  if (!isObject(task) || typeof task['name'] !== 'string' || task['name'].trim() === '') return 'has no name';
  if (PHASES.every((phase) => !given(task[`executable_${phase}`]))) return 'has no executable';
  const { type } = task;
  if (given(type) && !(typeof type === 'string' && type in TYPE_NAMES))
    return `is of an unknown type, ${written(type)}`;
  return PHASES.map((phase) => phaseProblem(task, phase, hasSchemas)).find((problem) => problem !== undefined);
}

function problemOf(manifest: JsonObject): string | undefined {
  const { manifest_version: version, args_schema_version: dialect, task_list: tasks } = manifest;
  if (!given(version)) return 'This is not a manifest: manifest_version is missing.';
  if (version !== '2')
    return `This manifest has version ${written(version)}; the service reads version 2, written as "2".`;
  const hasSchemas = manifest['has_args_schemas'] === true;
  if (hasSchemas && !given(dialect)) return 'The manifest does not say its args_schema_version.';
  if (given(dialect) && dialectOf(written(dialect)) === undefined)
    return `Schemas of the kind ${written(dialect)} are not supported. Use pydantic_v2, pydantic_v1 or fractal_schema_v1.`;
  if (!Array.isArray(tasks) || tasks.length === 0) return 'The manifest has no tasks in its task_list.';
  for (const [index, task] of tasks.entries()) {
    const wrong = taskProblem(task, hasSchemas);
    if (wrong === undefined) continue;
    const name = isObject(task) && typeof task['name'] === 'string' ? task['name'] : `number ${index + 1}`;
    return `Task ${name} ${wrong}.`;
  }
  const names = tasks.map((task) => (task as { name: string }).name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  return twice === undefined ? undefined : `Two tasks have the name ${twice}.`;
}

/** A JSON object from a file, or what is wrong with it. */
export function readObject(text: string): { value: JsonObject } | { problem: string } {
  try {
    const value = parseJson(text);
    return isObject(value) ? { value } : { problem: 'The file holds no JSON object.' };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return { problem: `This is not JSON. ${error.message}` };
  }
}

export function readManifest(text: string): Manifest {
  const read = readObject(text);
  if ('problem' in read) return read;
  const problem = problemOf(read.value);
  if (problem !== undefined) return { problem };
  return { value: read.value, tasks: (read.value['task_list'] as { name: string }[]).map(({ name }) => name) };
}
