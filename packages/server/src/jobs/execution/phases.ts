/** Runs the phases of a task: the one of most tasks, or both of a compound one, the first of which says what there is to do. */
import { isCompoundType, isConverterType } from '../../engine/units.ts';
import type { SnapshotTask } from '../snapshot.ts';
import type { JobContext } from './context.ts';
import { type PhaseResult, runPhase } from './phase.ts';
import { type Phase, type PhaseKind, planPhase } from './phase-plan.ts';
import type { PlannedRun } from './plan.ts';

/** What came of a task: of its last phase, and of those before it what counts for the whole. */
export interface TaskResult extends PhaseResult {
  /** Units of the last phase. */
  total: number;
  /** Units of all phases. */
  num_tasks: number;
  /** The images that count as updated when no unit says anything. */
  silentUrls: string[];
  /** The image that a unit of the last phase works on; null where it works on several, or on none. */
  imageOf(number: number): string | null;
}

function phaseKinds({ task: { type } }: SnapshotTask): [PhaseKind, ...PhaseKind[]] {
  if (type === 'parallel') return ['parallel'];
  return isCompoundType(type) ? ['init', 'compute'] : ['single'];
}

/** Images of which nothing is said count as updated where the task changes types. Converters take none. */
function silentUrlsOf({ task }: SnapshotTask, kind: PhaseKind, urls: string[], { failed }: PhaseResult): string[] {
  if (isConverterType(task.type) || Object.keys(task.output_types).length === 0) return [];
  if (kind === 'compute') return failed.size === 0 ? urls : [];
  return kind === 'parallel' ? urls.filter((_, number) => !failed.has(number)) : urls;
}

const imagesOf =
  ({ single, zarr_urls }: Phase) =>
  (number: number) =>
    (single && zarr_urls.length !== 1 ? undefined : zarr_urls[number]) ?? null;

export async function runPhases(
  context: JobContext,
  task: SnapshotTask,
  run: Pick<PlannedRun, 'runId' | 'layouts'>,
): Promise<TaskResult> {
  let result: TaskResult | undefined;
  for (const kind of phaseKinds(task)) {
    if (result && (result.failed.size > 0 || result.items.length === 0)) break;
    const phase = await planPhase(context, task, run, { kind, items: result?.items ?? [] });
    const ran = await runPhase(context, phase);
    result = {
      ...ran,
      total: phase.total,
      num_tasks: (result?.num_tasks ?? 0) + phase.total,
      silentUrls: silentUrlsOf(task, kind, result?.silentUrls ?? phase.zarr_urls, ran),
      imageOf: imagesOf(phase),
      executorError: ran.executorError ?? result?.executorError ?? null,
    };
  }
  return result!;
}
