/** What is done with an environment, whichever kind it is. */
import { join } from 'node:path';

import type { Origin } from '@service/contract';

import type { InstallSite } from '../install-site.ts';
import type { GroupAtWork } from '../store/lifecycle.ts';
import * as pip from './pip.ts';
import * as pixi from './pixi.ts';
import type { ProcedureRun } from './procedure-run.ts';

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
  run: ProcedureRun,
  group: GroupAtWork,
  site: InstallSite,
  options: { frozen: boolean },
): Promise<pip.Built> =>
  group.origin === 'pixi' ? pixi.buildEnvironment(run, group, site, options) : pip.buildEnvironment(run, group, site);

export const rebuildGroup = (run: ProcedureRun, group: GroupAtWork, site: InstallSite): Promise<void> =>
  group.origin === 'pixi' ? pixi.rebuildEnvironment(run, group, site) : pip.rebuildEnvironment(run, group, site);

export const removalProblem = (run: ProcedureRun, group: GroupAtWork): Promise<string | undefined> =>
  group.origin === 'pixi' ? pixi.removalProblem(run, group) : pip.removalProblem(run, group);
