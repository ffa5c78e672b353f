/** All migrations, oldest first. Names are kept in the database: never rename one that has landed. */
import type { Migration } from 'kysely/migration';

import * as accounts from './0001-accounts.ts';
import * as projects from './0002-projects.ts';
import * as taskGroups from './0003-task-groups.ts';
import * as jobs from './0004-jobs.ts';
import * as clusters from './0005-clusters.ts';
import * as tokens from './0006-tokens.ts';
import * as audit from './0007-audit.ts';
import * as imports from './0008-imports.ts';
import * as plateContrasts from './0009-plate-contrasts.ts';
import * as importOverview from './0010-import-overview.ts';
import * as unknownNewImages from './0011-unknown-new-images.ts';
import * as imagesAtOnce from './0012-images-at-once.ts';
import * as importsOfRuns from './0013-imports-of-runs.ts';
import * as endsOfJobs from './0014-ends-of-jobs.ts';
import * as shellLines from './0015-shell-lines.ts';
import * as broughtFacets from './0016-brought-facets.ts';
import * as chosenTasks from './0017-chosen-tasks.ts';
import * as rootsOfDatasets from './0018-roots-of-datasets.ts';

export const migrations: Record<string, Migration> = {
  '0001-accounts': accounts,
  '0002-projects': projects,
  '0003-task-groups': taskGroups,
  '0004-jobs': jobs,
  '0005-clusters': clusters,
  '0006-tokens': tokens,
  '0007-audit': audit,
  '0008-imports': imports,
  '0009-plate-contrasts': plateContrasts,
  '0010-import-overview': importOverview,
  '0011-unknown-new-images': unknownNewImages,
  '0012-images-at-once': imagesAtOnce,
  '0013-imports-of-runs': importsOfRuns,
  '0014-ends-of-jobs': endsOfJobs,
  '0015-shell-lines': shellLines,
  '0016-brought-facets': broughtFacets,
  '0017-chosen-tasks': chosenTasks,
  '0018-roots-of-datasets': rootsOfDatasets,
};
