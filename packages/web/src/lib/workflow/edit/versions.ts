/** Newer versions of the tasks of a workflow. */
import type { WorkflowTask } from '@service/contract';

import type { Option } from '#lib/ui/picker.ts';

export interface Candidate {
  task_id: number;
  version: string;
}

const PRE_RELEASE = /\d(?:a|b|c|rc|alpha|beta|pre|preview|\.?dev)\.?\d*/i;

export const isPreRelease = (version: string): boolean => PRE_RELEASE.test(version);

/** What is proposed: the newest finished version, else the newest. Candidates come oldest first. */
export const proposed = (candidates: readonly Candidate[]): Candidate | undefined =>
  candidates.findLast(({ version }) => !isPreRelease(version)) ?? candidates.at(-1);

/** Newest first; of equal versions, which other people may own, the number of the task tells them apart. */
export const versionOptions = (candidates: readonly Candidate[]): Option[] =>
  candidates.toReversed().map(({ task_id, version }) => {
    const twice = candidates.filter((other) => other.version === version).length > 1;
    return {
      value: String(task_id),
      name: twice ? `${version} (task ${task_id})` : version,
      note: isPreRelease(version) ? 'pre-release' : undefined,
    };
  });

export interface Updatable {
  step: WorkflowTask;
  /** Counted from 1. */
  number: number;
  candidates: readonly Candidate[];
}

/** Candidates come as one list for each task, in the order of the workflow. */
export const updatable = (tasks: readonly WorkflowTask[], candidates: readonly (readonly Candidate[])[]): Updatable[] =>
  tasks
    .map((step, index) => ({ step, number: index + 1, candidates: candidates[index] ?? [] }))
    .filter(({ candidates: newer }) => newer.length > 0);
