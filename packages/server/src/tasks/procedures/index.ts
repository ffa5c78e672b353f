/** What is done with an environment, whichever kind it is. */
import { join } from 'node:path';

import type { Origin } from '@service/contract';

import type { Place } from '../place.ts';
import type { GroupAtWork } from '../store/lifecycle.ts';
import * as pip from './pip.ts';
import * as pixi from './pixi.ts';
import type { Run } from './run.ts';

const none: string[] = [];

export const BUILD_STEPS: Record<Origin, string[]> = {
  pypi: pip.ENVIRONMENT_STEPS,
  'wheel-file': pip.ENVIRONMENT_STEPS,
  pixi: pixi.ENVIRONMENT_STEPS,
  other: none,
};

export const REBUILD_STEPS: Record<Origin, string[]> = {
  pypi: pip.REBUILD_STEPS,
  'wheel-file': pip.REBUILD_STEPS,
  pixi: pixi.REBUILD_STEPS,
  other: none,
};

export const environmentFolder = (group: GroupAtWork) =>
  group.origin === 'pixi' ? join(group.path!, pixi.SOURCE) : group.venv_path!;

export const buildGroup = (
  run: Run,
  group: GroupAtWork,
  place: Place,
  options: { frozen: boolean },
): Promise<pip.Built> =>
  group.origin === 'pixi' ? pixi.buildEnvironment(run, group, place, options) : pip.buildEnvironment(run, group, place);

export const rebuildGroup = (run: Run, group: GroupAtWork, place: Place): Promise<void> =>
  group.origin === 'pixi' ? pixi.rebuildEnvironment(run, group, place) : pip.rebuildEnvironment(run, group, place);

export const removalProblem = (run: Run, group: GroupAtWork): Promise<string | undefined> =>
  group.origin === 'pixi' ? pixi.removalProblem(run, group) : pip.removalProblem(run, group);
