/** What the demo shows: its workflows, each with a dataset of its own. */
import type { JsonObject } from '@service/contract';

export const DEMO_PROJECT = 'Demo';

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

/** `overwrite` lets people run a workflow again without cleaning up. */
const plate = (layout: { rows: number; columns: number }): DemoTask => ({
  name: 'Make Demo Plate',
  args_non_parallel: { plate_name: 'demo', layout, overwrite: true },
});

export const DEMO_WORKFLOWS: readonly DemoWorkflow[] = [
  {
    name: 'Measure nuclei',
    description: 'Draws a plate of cells, corrects and projects its images, finds the nuclei and measures them.',
    dataset: 'Demo plate',
    tasks: [
      plate({ rows: 2, columns: 3 }),
      { name: 'Correct Illumination' },
      { name: 'Maximum Projection' },
      { name: 'Segment Nuclei', args_parallel: { channel_label: 'nuclei', min_size: 30 } },
      { name: 'Measure Nuclei', args_parallel: { features: ['size', 'position', 'intensity'] } },
      { name: 'Summarise Plate', args_non_parallel: { file_name: 'summary.csv' } },
    ],
    ends: 'done',
  },
  {
    name: 'Demo with a failure',
    description:
      'Goes wrong on well A02. Take the well out of the arguments of the last task, and continue from there.',
    dataset: 'Demo plate with a failure',
    tasks: [plate({ rows: 1, columns: 3 }), { name: 'Fail On Wells', args_parallel: { wells: ['A02'] } }],
    ends: 'failed',
  },
];
