/** What is open over the workflow page. */
import type { WorkflowTaskWithWarning } from '@service/contract';

export type Open =
  | { what: 'run'; mode: 'run' | 'continue' | 'reset' | 'rerun'; task?: WorkflowTaskWithWarning }
  | { what: 'delete'; task: WorkflowTaskWithWarning }
  | { what: 'stop' | 'add' | 'reorder' | 'properties' | 'template' | 'compare' | 'flow' | 'updateAll' };
