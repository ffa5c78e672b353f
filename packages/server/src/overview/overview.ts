/** What administrators see at a glance. */
import type { Overview, ResourceSeen } from '@service/contract';

import type { Database } from '../db/index.ts';
import { clusterAddress, type Clusters } from '../slurm/index.ts';
import { accountWarnings, type RunAs } from '../run-as/index.ts';
import { VERSION } from '../version.ts';
import { type Background, createBackground } from './background.ts';
import { byFileSystem, type Disk, diskOf, type UsedFolder } from './disks.ts';
import { keptFor } from './kept.ts';
import * as store from './store.ts';

const KEPT_MS = 3000;

export interface OverviewParts {
  db: Database;
  clusters: Clusters;
  runAs: RunAs;
  dataDir: string;
}

const nameOf = ({ id, host, username, ssh_key_path }: store.ResourceRow) =>
  JSON.stringify([id, host, username, ssh_key_path]);

/** Fails with the reason where the cluster does not show its queue. */
async function askCluster(clusters: Clusters, row: store.ResourceRow): Promise<true> {
  const address = clusterAddress(row, row);
  const answer = await clusters.queueText(address, [`--user=${address.username}`, '--noheader']);
  if ('problem' in answer) throw new Error(answer.problem || 'It does not answer.');
  return true;
}

const HERE = { state: 'reachable', since: null, problem: null } as const;
const NO_PROFILE = { state: 'unknown', since: null, problem: 'It has no profile yet to connect with.' } as const;

function seenResource(row: store.ResourceRow, clusters: Clusters, asked: Background<true>): ResourceSeen {
  const { id, name, type, host, prevent_new_submissions, running, waiting } = row;
  const look = () => {
    const { state, since, problem } = asked.look(nameOf(row), () => askCluster(clusters, row));
    return { state, since: since?.toISOString() ?? null, problem };
  };
  const reached = type === 'local' ? HERE : row.username === null ? NO_PROFILE : look();
  return { id, name, type, host, prevent_new_submissions, running, waiting, ...reached };
}

const foldersOf = (dataDir: string, resources: store.ResourceRow[]): UsedFolder[] => [
  { folder: dataDir, purpose: 'Data of the service' },
  ...resources.flatMap(({ name, jobs_local_dir, tasks_local_dir }) => [
    { folder: jobs_local_dir, purpose: `Jobs of ${name}` },
    { folder: tasks_local_dir, purpose: `Task packages of ${name}` },
  ]),
];

/** Looks at most every few seconds, however many ask. */
export function createOverview({ db, clusters, runAs, dataDir }: OverviewParts): () => Promise<Overview> {
  const resourcesAsked = createBackground<true>();
  const disksAsked = createBackground<Disk>();

  async function overview(): Promise<Overview> {
    const figures = await store.countAll(db);
    const [rows, failed_jobs, pending_accounts] = [
      await store.listResources(db),
      figures.failed > 0 ? await store.newestFailures(db) : [],
      figures.pending > 0 ? await store.newestPending(db) : [],
    ];
    const folders = foldersOf(dataDir, rows);
    resourcesAsked.keep(rows.map(nameOf));
    disksAsked.keep(folders.map(({ folder }) => folder));
    return {
      timestamp: new Date().toISOString(),
      jobs: {
        running: figures.running,
        waiting: figures.waiting,
        done_last_day: figures.done,
        failed_last_day: figures.failed,
      },
      warnings: accountWarnings(rows, runAs),
      failed_jobs,
      accounts: { active: figures.active, pending: figures.pending },
      pending_accounts,
      activities: { ongoing: figures.ongoing, failed_last_day: figures.failed_activities },
      resources: rows.map((row) => seenResource(row, clusters, resourcesAsked)),
      num_resources: figures.num_resources,
      disks: byFileSystem(
        folders.map((used) => ({ used, seen: disksAsked.look(used.folder, () => diskOf(used.folder)) })),
      ),
      versions: { server: VERSION, database: figures.database, node: process.versions.node },
    };
  }

  return keptFor(KEPT_MS, overview);
}
