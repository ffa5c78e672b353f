/** The phases that a task runs in, and their names: a compound task has two, any other one. */
import type { TaskType } from '@service/contract';

export type Phase = 'non_parallel' | 'parallel';

/** The phases that a task runs in, in their order. */
export const phasesOf = (type: TaskType): Phase[] =>
  type === 'parallel'
    ? ['parallel']
    : type === 'compound' || type === 'converter_compound'
      ? ['non_parallel', 'parallel']
      : ['non_parallel'];

type OfPhases = Partial<Record<`args_${Phase}` | `meta_${Phase}`, unknown>>;

/** The phases that something is set for, in one of some files: they do not say of which type a task is. */
export const phasesIn = (...items: OfPhases[]): Phase[] =>
  phasesOf('compound').filter((phase) =>
    items.some((item) => (item[`args_${phase}`] ?? item[`meta_${phase}`] ?? null) !== null),
  );

const PHASE_NAMES: Record<Phase, string> = { non_parallel: 'Init', parallel: 'Compute' };

/** `Init arguments` and `Compute arguments` of a compound task; any other has but one phase, and `Arguments`. */
export const ofPhase = (what: string, phase: Phase, phases: readonly Phase[]): string =>
  phases.length < 2 ? what : `${PHASE_NAMES[phase]} ${what[0]!.toLowerCase()}${what.slice(1)}`;
