/** Everybody who can stand before a project, and what lies in one, made by SQL. */
import type { Permissions } from '@service/contract';

import { addPerson, addProfile, type Person, shareProject } from './plates.ts';
import type { Client, TestService } from './server.ts';

export const ROLES = [
  'owner',
  'rwx',
  'rw',
  'r',
  'pending',
  'stranger',
  'serviceGuest',
  'superuser',
  'anonymous',
] as const;
export type Role = (typeof ROLES)[number];

export interface Cast {
  profile: number;
  people: Record<Exclude<Role, 'anonymous'>, Person>;
  client(role: Role): Client;
  /** Shares a project with everybody who is a guest by their name; the service guest gets rwx and may still only read. */
  shareWithAll(project: number): Promise<void>;
}

/** The superuser has a profile too, so that what stops them is the project and nothing else. */
export async function castOf(service: TestService): Promise<Cast> {
  const profile = await addProfile(service);
  const person = (fields: Record<string, unknown> = {}) => addPerson(service, profile, fields);
  const people = {
    owner: await person({ email: 'owner@example.org' }),
    rwx: await person({ email: 'rwx@example.org' }),
    rw: await person({ email: 'rw@example.org' }),
    r: await person({ email: 'r@example.org' }),
    pending: await person({ email: 'pending@example.org' }),
    stranger: await person({ email: 'stranger@example.org' }),
    serviceGuest: await person({ email: 'guest@example.org', is_guest: true }),
    superuser: await person({ email: 'super@example.org', patch: { is_verified: true, is_superuser: true } }),
  };
  return {
    profile,
    people,
    client: (role) => (role === 'anonymous' ? service.anyone : people[role].client),
    async shareWithAll(project) {
      const links: [keyof typeof people, Permissions, boolean][] = [
        ['rwx', 'rwx', true],
        ['rw', 'rw', true],
        ['r', 'r', true],
        ['pending', 'rwx', false],
        ['serviceGuest', 'rwx', true],
      ];
      for (const [role, permissions, verified] of links) {
        await shareProject(service, project, people[role], permissions, verified);
      }
    },
  };
}

export async function addDataset(
  service: TestService,
  project_id: number,
  { name = 'data', zarr_dir = '/projects/p/data' } = {},
): Promise<number> {
  const { id } = await service.database.db
    .insertInto('datasets')
    .values({ name, project_id, zarr_dir })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function addWorkflow(service: TestService, project_id: number, name = 'flow'): Promise<number> {
  const { id } = await service.database.db
    .insertInto('workflows')
    .values({ name, project_id })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

interface NewJob {
  project_id: number | null;
  dataset_id?: number;
  workflow_id?: number;
  user_id?: number | null;
  user_email?: string;
  status?: 'submitted' | 'done' | 'failed';
  start_timestamp?: string;
}

/** A finished job whose dumps have names; more of it can be said than in tasks.ts. */
export async function addJob(service: TestService, job: NewJob): Promise<number> {
  const { id } = await service.database.db
    .insertInto('jobs')
    .values({
      user_email: 'somebody@example.org',
      dataset_dump: '{"name": "the data"}',
      workflow_dump: '{"name": "the flow"}',
      project_dump: '{}',
      fractal_server_version: '0',
      first_task_index: 0,
      last_task_index: 0,
      status: 'done',
      ...job,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** A run of one task with one unit for each status; units with a `!` have warnings. */
export async function addRun(
  service: TestService,
  run: { job_id: number; dataset_id: number; task: string; timestamp_started?: string },
  units: string[],
): Promise<void> {
  const { task, ...row } = run;
  const { db } = service.database;
  const { id } = await db
    .insertInto('history_runs')
    .values({
      ...row,
      workflowtask_dump: JSON.stringify({ task: { name: task } }),
      task_group_dump: '{}',
      status: 'submitted',
      num_available_images: units.length,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const rows = units.map((unit) => ({
    history_run_id: id,
    logfile: '/log',
    has_warnings: unit.endsWith('!'),
    status: unit.replace('!', '') as 'submitted' | 'done' | 'failed',
  }));
  if (rows.length > 0) await db.insertInto('history_units').values(rows).execute();
}
