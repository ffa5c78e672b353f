/**
 * What is in a file that somebody chose: a dataset, a workflow, a template; or what is wrong with it, in words. Numbers stay
 * as they are written in the file.
 */
import { isObject, type JsonObject, JsonSyntaxError, parseJson } from '../json.ts';

export type Read<T> = { value: T } | { problem: string };

const text = (value: unknown) => (typeof value === 'string' ? value : '');

function parsed(content: string): Read<JsonObject> {
  try {
    const value = parseJson(content);
    return isObject(value) ? { value } : { problem: 'This file is JSON, but not an exported object.' };
  } catch (error) {
    if (error instanceof JsonSyntaxError) return { problem: `This file is not valid JSON. ${error.message}` };
    throw error;
  }
}

const isWorkflow = (value: JsonObject) => Array.isArray(value['task_list']);
const isTemplate = (value: JsonObject) => isObject(value['data']) && isWorkflow(value['data']);
const isDataset = (value: JsonObject) => typeof value['zarr_dir'] === 'string';

/** What the file holds instead, with the place it belongs to. */
function elsewhere(value: JsonObject): string {
  if (isTemplate(value)) return 'This file holds a template. Import it on the page Templates.';
  if (isWorkflow(value)) return 'This file holds a workflow. Import it with New workflow.';
  if (isDataset(value)) return 'This file holds a dataset. Import it with New dataset.';
  return 'This file was not exported from here.';
}

export function readWorkflow(content: string): Read<JsonObject> {
  const file = parsed(content);
  if ('problem' in file) return file;
  const tasks = file.value['task_list'];
  if (!Array.isArray(tasks)) return { problem: elsewhere(file.value) };
  return tasks.every((item) => isObject(item) && isObject(item['task']))
    ? file
    : { problem: 'A task of this workflow does not say which task it is.' };
}

export function readDataset(content: string): Read<JsonObject> {
  const file = parsed(content);
  return 'problem' in file || isDataset(file.value) ? file : { problem: elsewhere(file.value) };
}

export interface TemplateFile {
  name: string;
  /** 1 for a workflow, which has none. */
  version: string;
  description: string;
  data: JsonObject;
  isWorkflow: boolean;
}

/** A template, or a workflow that becomes one. */
export function readTemplate(content: string): Read<TemplateFile> {
  const file = parsed(content);
  if ('problem' in file) return file;
  const { value } = file;
  const plain = isWorkflow(value);
  if (!plain && !isTemplate(value)) return { problem: elsewhere(value) };
  return {
    value: {
      name: text(value['name']),
      version: plain ? '1' : String((value['version'] as number | undefined) ?? ''),
      description: text(value['description']),
      data: plain ? value : (value['data'] as JsonObject),
      isWorkflow: plain,
    },
  };
}
