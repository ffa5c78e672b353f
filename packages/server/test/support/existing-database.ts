/**
 * A database of an existing deployment, for tests: a lab that has worked in it, and whatever a test adds.
 *
 *     const existing = await openExisting(connection);
 *     await existing.add('projectv2', { id: 7, name: 'plates', resource_id: 1 });
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { hash } from '@node-rs/bcrypt';
import pg from 'pg';

import type { Connection } from '../../src/db/index.ts';
import { COLUMNS, existingSchema, type Revision } from './existing-schema.ts';

export type Row = Record<string, unknown>;

const CREATED = '2025-03-04T05:06:07.891011Z';

/** What a row has when a test says nothing else; texts that have to differ get their id. */
const DEFAULTS: Record<string, (id: unknown) => Row> = {
  resource: (id) => ({
    type: 'local',
    name: `resource-${String(id)}`,
    timestamp_created: CREATED,
    jobs_local_dir: '/srv/jobs',
    jobs_runner_config: { parallel_tasks_per_job: null },
    jobs_poll_interval: 0,
    tasks_local_dir: '/srv/tasks',
    tasks_python_config: { default_version: '3.11', versions: { '3.11': '/usr/bin/python3' }, pip_cache_dir: null },
  }),
  profile: (id) => ({ resource_type: 'local', name: `profile-${String(id)}`, resource_id: 1 }),
  user_oauth: (id) => ({
    email: `person${String(id)}@example.org`,
    hashed_password: '!',
    is_active: true,
    is_superuser: false,
    is_verified: true,
    profile_id: 1,
    project_dirs: ['/srv/projects'],
  }),
  oauthaccount: () => ({
    user_id: 2,
    oauth_name: 'google',
    access_token: 'secret-access',
    expires_at: 1_800_000_000,
    refresh_token: 'secret-refresh',
    account_email: 'ann@example.org',
  }),
  usergroup: () => ({ timestamp_created: CREATED }),
  linkusergroup: () => ({}),
  projectv2: () => ({ resource_id: 1, timestamp_created: CREATED }),
  linkuserprojectv2: () => ({ is_owner: false, is_verified: true, permissions: 'r' }),
  datasetv2: () => ({ project_id: 1, timestamp_created: CREATED, zarr_dir: '/srv/zarr' }),
  workflowtemplate: () => ({
    user_id: 2,
    version: 1,
    data: '{}',
    fractal_server_version: '2.24.4',
    timestamp_created: CREATED,
    timestamp_last_used: CREATED,
  }),
  workflowv2: () => ({ project_id: 1, timestamp_created: CREATED }),
  taskgroupv2: (id) => ({
    user_id: 2,
    resource_id: 1,
    origin: 'other',
    pkg_name: `package-${String(id)}`,
    version: '1.0.0',
    active: true,
    timestamp_created: CREATED,
    timestamp_last_used: CREATED,
  }),
  taskv2: (id) => ({
    name: `task-${String(id)}`,
    type: 'parallel',
    command_parallel: '/usr/bin/true',
    version: '1.0.0',
    taskgroupv2_id: 1,
    input_types: {},
    output_types: {},
  }),
  workflowtaskv2: () => ({ workflow_id: 1, task_id: 1, task_type: 'parallel' }),
  taskgroupactivityv2: () => ({
    user_id: 2,
    timestamp_started: CREATED,
    timestamp_ended: CREATED,
    pkg_name: 'package-1',
    version: '1.0.0',
    status: 'OK',
    action: 'deactivate',
  }),
  jobv2: () => ({
    project_id: 1,
    workflow_id: 1,
    dataset_id: 1,
    user_email: 'ann@example.org',
    dataset_dump: { id: 1, name: 'plate', project_id: 1, zarr_dir: '/srv/zarr', timestamp_created: CREATED },
    workflow_dump: { id: 1, name: 'measure', project_id: 1, timestamp_created: CREATED },
    project_dump: { id: 1, name: 'nuclei', timestamp_created: CREATED },
    first_task_index: 0,
    last_task_index: 0,
    start_timestamp: CREATED,
    end_timestamp: CREATED,
    status: 'done',
    fractal_server_version: '2.24.4',
  }),
  historyrun: () => ({
    dataset_id: 1,
    workflowtask_id: 1,
    job_id: 1,
    task_id: 1,
    workflowtask_dump: {},
    task_group_dump: { id: 1, pkg_name: 'package-1', version: '1.0.0', origin: 'other' },
    timestamp_started: CREATED,
    status: 'done',
    num_available_images: 0,
  }),
  historyunit: () => ({ history_run_id: 1, has_warnings: false, status: 'done', zarr_urls: [] }),
  historyimagecache: () => ({ dataset_id: 1, workflowtask_id: 1 }),
  accountingrecord: () => ({ user_id: 2, timestamp: CREATED, num_tasks: 1, num_new_images: 0 }),
  accountingrecordslurm: () => ({ user_id: 2, timestamp: CREATED }),
};

const isJson = (table: string, column: string) => /^jsonb?\b/.test(COLUMNS[table]![column]!);

/** A JSON column takes a value, or a text that is stored as it is written. */
const stored = (table: string, column: string, value: unknown) =>
  isJson(table, column) && typeof value !== 'string' && value !== null ? JSON.stringify(value) : value;

async function insert(client: pg.Client, table: string, given: Row): Promise<void> {
  const row = { ...DEFAULTS[table]!(given['id']), ...given };
  const columns = Object.keys(row);
  await client.query(
    `insert into ${table} (${columns.map((column) => `"${column}"`).join(', ')})
     values (${columns.map((_, index) => `$${index + 1}`).join(', ')})`,
    columns.map((column) => stored(table, column, row[column])),
  );
}

export const PASSWORD = 'old-password';
export const OLD_PLATE = '/srv/zarr/plate.zarr';

/** Keys in an order of their own, and a number that JavaScript would shorten. */
export const TEMPLATE_DATA = `{"name": "measure", "task_list": [{"meta_non_parallel": null, "meta_parallel": {"z": 1.0, "a": 1},
  "args_non_parallel": null, "args_parallel": {}, "type_filters": {}, "description": null, "alias": null,
  "task": {"pkg_name": "package-1", "version": "1.0.0", "name": "task-1"}}], "description": null}`;

export const image = (name: string, more: Row = {}): Row => ({ zarr_url: `${OLD_PLATE}/${name}`, ...more });

/** A lab with an administrator, Ann, who owns a project, and Bob, who is its guest. */
async function addLab(add: (table: string, row: Row) => Promise<void>): Promise<void> {
  const hashed_password = await hash(PASSWORD, 4);
  await add('resource', { id: 1 });
  await add('profile', { id: 1 });
  await add('user_oauth', { id: 1, email: 'admin@example.org', hashed_password, is_superuser: true });
  await add('user_oauth', { id: 2, email: 'ann@example.org', hashed_password, slurm_accounts: ['lab'] });
  await add('user_oauth', { id: 3, email: 'bob@example.org', hashed_password, slurm_accounts: null });
  await add('usergroup', { id: 1, name: 'All' });
  for (const user_id of [1, 2, 3]) await add('linkusergroup', { group_id: 1, user_id });
  await add('taskgroupv2', { id: 1, user_group_id: 1, pinned_package_versions_pre: null });
  await add('taskv2', {
    id: 1,
    args_schema_parallel: '{"b": 1, "a": {"default": 1.0}}',
    args_schema_non_parallel: 'null',
    input_types: null,
    tags: ['one', 'two'],
  });
  await add('taskv2', { id: 2, type: 'compound', command_non_parallel: '/usr/bin/true', meta_non_parallel: 'null' });
  await add('projectv2', { id: 1, name: 'nuclei' });
  await add('linkuserprojectv2', { project_id: 1, user_id: 2, is_owner: true, permissions: 'rwx' });
  await add('linkuserprojectv2', { project_id: 1, user_id: 3, is_verified: false });
  const images = [
    image('A/1', { attributes: { well: 'A1', gain: 1.5 }, types: { is_3D: true } }),
    image('A/2', { origin: null, attributes: { well: 'A2', big: 1 }, types: {} }),
    image('B/1', { origin: `${OLD_PLATE}/A/1`, attributes: {}, types: { is_3D: false } }),
  ];
  // a number that JavaScript cannot hold, and one that it would shorten
  const text = JSON.stringify(images).replace('"big":1', '"big":12345678901234567890').replace('1.5', '1.50');
  await add('datasetv2', { id: 1, name: 'plate', images: text });
  await add('workflowtemplate', { id: 1, name: 'template', data: TEMPLATE_DATA, user_group_id: 1 });
  await add('workflowv2', { id: 1, name: 'measure', template_id: 1 });
  await add('workflowtaskv2', {
    id: 1,
    order: 0,
    meta_parallel: '{"z": 1, "a": 2.0}',
    meta_non_parallel: 'null',
    args_parallel: { size: 2 },
    args_non_parallel: 'null',
  });
  await add('workflowtaskv2', { id: 2, order: 1, task_id: 2, task_type: 'compound' });
  await add('jobv2', {
    id: 1,
    last_task_index: 1,
    working_dir: '/srv/jobs/2025-03/proj_v2_0000001_wf_0000001_job_0000001_20250304_050607',
    end_timestamp: '2025-03-04T05:16:07Z',
  });
  await add('historyrun', {
    id: 1,
    workflowtask_dump: { id: 1, order: 0, task_type: 'parallel' },
    num_available_images: 3,
  });
  await add('historyrun', {
    id: 2,
    workflowtask_id: 2,
    task_id: 2,
    timestamp_started: '2025-03-04T05:10:07Z',
    workflowtask_dump: { id: 2, order: 1, task: { type: 'compound' }, input_filters: {} },
  });
  for (const [index, { zarr_url }] of images.entries()) {
    await add('historyunit', { id: index + 1, zarr_urls: [zarr_url], has_warnings: index === 1 });
    await add('historyimagecache', { zarr_url, latest_history_unit_id: index + 1 });
  }
  for (const id of [4, 5, 6]) await add('historyunit', { id, history_run_id: 2 });
  await add('taskgroupactivityv2', { id: 1, taskgroupv2_id: 1, action: 'collect', log: 'collected' });
  await add('accountingrecord', { id: 1 });
  await add('accountingrecordslurm', { id: 1, slurm_job_ids: null, fractal_job_id: 1, resource_id: 1 });
}

export interface Existing {
  name: string;
  connection: Connection;
  add(table: string, row: Row): Promise<void>;
  query<T extends Row = Row>(sql: string, values?: unknown[]): Promise<T[]>;
  /** Leaves the database, as an existing server does that was stopped; the next statement comes back to it. */
  leave(): Promise<void>;
  drop(): Promise<void>;
}

export interface ExistingOptions {
  revision?: Revision;
  upgraded?: boolean;
  /** Without the lab and its work. */
  empty?: boolean;
  encoding?: 'LATIN1';
}

async function administer(connection: Connection, statement: string): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  await client.query(statement);
  await client.end();
}

/** A database with what an existing deployment wrote while its clients worked on it. */
export function openSample(connection: Connection): Promise<Existing> {
  const dump = gunzipSync(readFileSync(join(import.meta.dirname, 'existing-database.sql.gz')));
  return opened(connection, (database) => {
    const { host, port, user, password } = connection;
    execFileSync('psql', ['-q', '-h', host, '-p', String(port), '-U', user!, '-d', database], {
      input: dump,
      stdio: ['pipe', 'ignore', 'inherit'],
      env: { ...process.env, PGPASSWORD: password! },
    });
    return Promise.resolve();
  });
}

/** Made once in a process, as far as tests ask for the same: by server and options, the name of a database to copy. */
const templates = new Map<string, Promise<string>>();

async function madeTemplate(connection: Connection, options: ExistingOptions): Promise<string> {
  const template = await opened(
    connection,
    async (_, client) => {
      await client.query(existingSchema(options.revision ?? '3ddaf7271fc3', options));
      if (!options.empty) await addLab((table, row) => insert(client, table, row));
      // ids up to 100 were given out, and what had them was deleted
      for (const [table, columns] of Object.entries(COLUMNS)) {
        if ('id' in columns) await client.query(`select setval('${table}_id_seq', 100)`);
      }
    },
    `template template0 ${options.encoding ? `encoding '${options.encoding}' locale 'C'` : ''}`,
  );
  await template.leave();
  return template.name;
}

export async function openExisting(connection: Connection, options: ExistingOptions = {}): Promise<Existing> {
  const key = JSON.stringify([connection.host, connection.port, options]);
  let template = templates.get(key);
  if (!template) templates.set(key, (template = madeTemplate(connection, options)));
  return opened(connection, () => Promise.resolve(), `template ${await template}`);
}

async function opened(
  connection: Connection,
  fill: (database: string, client: pg.Client) => Promise<void>,
  how = 'template template0',
): Promise<Existing> {
  const name = `existing_${randomBytes(6).toString('hex')}`;
  await administer(connection, `create database ${name} ${how}`);
  const own = { ...connection, database: name };
  let client: pg.Client | undefined;
  const connected = async () => {
    if (client) return client;
    client = new pg.Client(own);
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  const leave = async () => {
    await client?.end();
    client = undefined;
  };
  await fill(name, await connected());
  return {
    name,
    connection: own,
    add: async (table, row) => insert(await connected(), table, row),
    query: async <T extends Row>(sql: string, values?: unknown[]) =>
      (await (await connected()).query<T>(sql, values)).rows,
    leave,
    async drop() {
      await leave();
      await administer(connection, `drop database if exists ${name} with (force)`);
    },
  };
}
