/** The rows of an existing deployment, and what is asked of them. */
import pg from 'pg';

import type { Connection } from '../../../src/db/index.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- rows of every table
export type Row = Record<string, any>;

export type Caller = Row;

const { builtins } = pg.types;

const moment = (text: string) => {
  const [, date, time, fraction] = /^(\S+) ([\d:]+)(?:\.(\d+))?\+00$/.exec(text)!;
  return `${date}T${time}${fraction === undefined ? '' : `.${fraction.padEnd(6, '0')}`}+00:00`;
};

const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === Number(builtins.TIMESTAMPTZ) ? moment : (pg.types.getTypeParser(oid, format) as (text: string) => unknown),
};

const TABLES = {
  resources: 'resource',
  profiles: 'profile',
  users: 'user_oauth',
  oauth: 'oauthaccount',
  groups: 'usergroup',
  memberships: 'linkusergroup',
  projects: 'projectv2',
  links: 'linkuserprojectv2',
  datasets: 'datasetv2',
  templates: 'workflowtemplate',
  workflows: 'workflowv2',
  workflowTasks: 'workflowtaskv2',
  taskGroups: 'taskgroupv2',
  tasks: 'taskv2',
  activities: 'taskgroupactivityv2',
  jobs: 'jobv2',
  runs: 'historyrun',
  units: 'historyunit',
  cache: 'historyimagecache',
  accounting: 'accountingrecord',
  slurmAccounting: 'accountingrecordslurm',
} as const;

export type Old = Record<keyof typeof TABLES, Row[]>;

/** All rows. Runs and units that nobody will finish are failed: this is what an import says of them, too. */
export async function readOld(connection: Connection): Promise<Old> {
  const client = new pg.Client({ ...connection, types, options: '-c timezone=UTC' });
  await client.connect();
  const old = {} as Old;
  for (const [name, table] of Object.entries(TABLES) as [keyof Old, string][]) {
    old[name] = (await client.query<Row>(`select * from ${table} order by 1, 2`)).rows;
  }
  await client.end();
  for (const row of [...old.runs, ...old.units]) if (row['status'] === 'submitted') row['status'] = 'failed';
  return old;
}

export const DEFAULT_GROUP = 'All';

export const zulu = (time: string) => time.replace('+00:00', 'Z');

export const pick = (row: Row, ...names: string[]): Row => Object.fromEntries(names.map((name) => [name, row[name]]));

export const byId = (rows: Row[], id: unknown): Row | undefined => rows.find((row) => row['id'] === id);

/** By one value after another; a value of the opposite order is given as a number. */
export const sorted = <T>(rows: readonly T[], ...keys: ((row: T) => string | number | boolean)[]): T[] =>
  [...rows].sort((one, other) => {
    for (const key of keys) {
      const [a, b] = [key(one), key(other)];
      if (a !== b) return a < b ? -1 : 1;
    }
    return 0;
  });

/** Latest first: texts of times are compared from the end. */
export const latestFirst = <T>(rows: readonly T[], time: (row: T) => string): T[] => sorted(rows, time).reverse();

export const resourceOf = (old: Old, { profile_id }: Caller): number | undefined =>
  byId(old.profiles, profile_id)?.['resource_id'] as number | undefined;

export const groupIdsOf = (old: Old, { id }: Caller): number[] =>
  old.memberships.filter((one) => one['user_id'] === id).map((one) => one['group_id'] as number);

export const emailOf = (old: Old, id: number): string => byId(old.users, id)!['email'] as string;
