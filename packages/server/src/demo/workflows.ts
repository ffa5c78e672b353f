/**
 * What the demo shows: its workflows, each with a dataset of its own. They lie beside the tasks, because the web client
 * offers the same ones. Their plates are drawn with `overwrite`, which lets people run a workflow again without cleaning up.
 */
import type { JsonObject } from '@service/contract';

import shown from '../../../demo-tasks/workflows.json' with { type: 'json' };

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

export const DEMO_PROJECT = shown.project;
export const DEMO_WORKFLOWS = shown.workflows as readonly DemoWorkflow[];
