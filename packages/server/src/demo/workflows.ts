/**
 * What the demo shows: its workflows, each with a dataset of its own. They lie beside the tasks, because the web client
 * offers the same ones. Their plates are drawn with `overwrite`, which lets people run a workflow again without cleaning up.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { JsonObject } from '@service/contract';

import { DemoProblem } from './api.ts';

export const SOURCES = join(import.meta.dirname, '../../../demo-tasks');

interface DemoTask {
  name: string;
  args_non_parallel?: JsonObject;
  args_parallel?: JsonObject;
}

export interface DemoWorkflow {
  name: string;
  description: string;
  dataset: string;
  tasks: DemoTask[];
  /** How its job should end. */
  ends: 'done' | 'failed';
}

/** The project's name, and what is in it. */
export interface Shown {
  project: string;
  workflows: DemoWorkflow[];
}

export async function readShown(): Promise<Shown> {
  const text = await readFile(join(SOURCES, 'workflows.json'), 'utf8').catch(() => {
    throw new DemoProblem(`its tasks are not in ${SOURCES}. Get the complete source of the service.`);
  });
  return JSON.parse(text) as Shown;
}
