/** What `GET /demo/workflow` answers: everything the demo needs beside its package, which is at `/demo/package`. */
import type { JsonObject } from '@service/contract';

interface DemoTask {
  task: { pkg_name: string; version: string; name: string };
  args_non_parallel?: JsonObject;
  args_parallel?: JsonObject;
}

export interface DemoWorkflow {
  /** The name of the dataset to make for it. */
  dataset: string;
  /** The body of the import of a workflow, as it is to be sent. */
  workflow: { name: string; description: string; task_list: DemoTask[] };
  /** How its job should end: one of the workflows is there to show a failure. */
  ends: 'done' | 'failed';
  /** The arguments of the task that draws the plate, for words about it. */
  plate: { plate_name: string; layout: { rows: number; columns: number } };
}

export interface DemoOffer {
  /** The name of the project to make. */
  project: string;
  package: { pkg_name: string; version: string; file_name: string };
  workflows: DemoWorkflow[];
}
