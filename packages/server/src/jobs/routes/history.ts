/** History on the wire: runs, units and images, with their logs. */
import { jobs } from '@service/contract';

import type { Database } from '../../db/index.ts';
import type { Api } from '../../http/index.ts';
import type { Logger } from '../../logging/index.ts';
import type { Clusters } from '../../slurm/index.ts';
import type { JobFiles } from '../files/index.ts';
import * as history from '../history.ts';
import { imageHistory } from '../image-history.ts';
import { countImageGroups, queryImageStatus } from '../image-status.ts';
import type { LogReaders } from '../log-readers.ts';
import * as logs from '../unit-logs.ts';

export interface HistoryParts {
  db: Database;
  files: JobFiles;
  log: Logger;
  clusters: Clusters;
  readers: LogReaders;
}

export function historyRoutes(api: Api, parts: HistoryParts): void {
  const { db, readers } = parts;
  api.serve(jobs.listRuns, ({ user, params, query }) => history.listRuns(db, user, { ...params, ...query }));
  api.serve(jobs.listUnits, ({ user, params, query: { unit_status, ended, page, page_size, ...task } }) =>
    history.listUnits(db, user, { ...params, ...task }, { status: unit_status, ended }, { page, page_size }),
  );
  api.serve(jobs.queryImageStatus, ({ user, params, query, body }) =>
    queryImageStatus(db, user, { ...params, ...query }, body, query, query),
  );
  api.serve(jobs.countImageGroups, ({ user, params, query, body: { by, ...filters } }) =>
    countImageGroups(db, user, { ...params, ...query }, filters, by),
  );
  api.serve(jobs.imageHistory, ({ user, params, query }) => imageHistory(db, user, { ...params, ...query }));
  api.serve(jobs.imageLog, ({ user, params, body: { zarr_url, ...task }, reply }) =>
    logs.imageLog({ ...parts, reader: readers.open(user.id, reply) }, user, { ...params, ...task }, zarr_url),
  );
  api.serve(jobs.unitLog, ({ user, params, query, reply }) =>
    logs.unitLog({ ...parts, reader: readers.open(user.id, reply) }, user, { ...params, ...query }),
  );
}
