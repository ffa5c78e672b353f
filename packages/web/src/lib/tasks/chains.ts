/** What people usually put one after the other: of a package that has a task for each step, the first task of each. */
import type { TaskGroupSlim, TaskSlim } from '@service/contract';

import type { Packages } from './table.ts';

export interface Chain {
  pkg: string;
  tasks: TaskSlim[];
}

/** The categories that task packages name, in the order that images go through them. */
const STEPS = ['conversion', 'image processing', 'registration', 'segmentation', 'measurement'];
const LEAST = 2;
const MOST_CHAINS = 4;

/** Versions come newest first; a chain that does not begin with images has nothing to work on. */
export function commonChains(packages: Packages): Chain[] {
  const chains = packages.map(([pkg, groups]) => {
    const tasks = (groups as TaskGroupSlim[])[0]?.task_list ?? [];
    const ofStep = (step: string) => tasks.find(({ category }) => category?.toLowerCase() === step);
    return { pkg: pkg as string, tasks: STEPS.map(ofStep).filter((task) => task !== undefined) };
  });
  const begins = ({ tasks }: Chain) => tasks[0]?.type.startsWith('converter') ?? false;
  return chains.filter((chain) => chain.tasks.length >= LEAST && begins(chain)).slice(0, MOST_CHAINS);
}
