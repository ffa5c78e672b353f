/** The SQL of who may do what in a project. */
import type { Transaction } from 'kysely';

import type { Permissions, Project } from '@service/contract';

import { builtOnce, type Database, type Tables } from '../../db/index.ts';

export type Executor = Database | Transaction<Tables>;

/** A project as the wire shows it to a caller, with what only the service needs. */
export interface OpenProject {
  project: Project;
  resource_id: number;
  owner_id: number;
}

export interface Found extends OpenProject {
  /** Null without a link, or while the invitation is not accepted. */
  granted: Permissions | null;
}

/** For statements that find something of a project together with what decides whether the caller may see it. */
export const projectFor = (db: Executor, userId: number, projectId: number) =>
  db
    .selectFrom('projects')
    .where('projects.id', '=', projectId)
    .innerJoin('users as owner', 'owner.id', 'projects.owner_id')
    .leftJoin('project_links as link', (join) =>
      join
        .onRef('link.project_id', '=', 'projects.id')
        .on('link.user_id', '=', userId)
        .on('link.is_verified', '=', true),
    )
    .select([
      'projects.id',
      'projects.name',
      'projects.description',
      'projects.is_starred',
      'projects.timestamp_created',
      'projects.resource_id',
      'projects.owner_id',
      'owner.email as owner_email',
      'link.is_owner',
      'link.permissions',
    ]);

type Row = Awaited<ReturnType<ReturnType<typeof projectFor>['executeTakeFirstOrThrow']>>;

/** The project of a row that has more. */
export function foundProject(row: Row): Found {
  const { id, name, description, is_starred, timestamp_created, owner_email } = row;
  const { resource_id, owner_id, permissions, is_owner } = row;
  const project = {
    ...{ id, name, description, is_starred, timestamp_created, owner_email },
    is_owner: is_owner ?? false,
    permissions: permissions ?? 'r',
  };
  return { project, resource_id, owner_id, granted: permissions };
}

const selectProject = builtOnce((db, { userId, projectId }: Record<'userId' | 'projectId', number>) =>
  projectFor(db, userId, projectId),
);

export async function findProject(db: Executor, userId: number, projectId: number): Promise<Found | undefined> {
  const [row] = await selectProject(db, { userId, projectId });
  return row && foundProject(row);
}

/** Locks the project until the transaction ends, so that nothing it rests on changes meanwhile. Gives back its name. */
export async function lockProject(db: Transaction<Tables>, projectId: number): Promise<string | undefined> {
  const row = await db.selectFrom('projects').select('name').where('id', '=', projectId).forUpdate().executeTakeFirst();
  return row?.name;
}

/** The unfinished jobs of a project, dataset or workflow stand in the way of its deletion. */
export async function hasSubmittedJob(
  db: Executor,
  column: 'project_id' | 'dataset_id' | 'workflow_id',
  id: number,
): Promise<boolean> {
  const job = await db
    .selectFrom('jobs')
    .select('id')
    .where(column, '=', id)
    .where('status', '=', 'submitted')
    .limit(1)
    .executeTakeFirst();
  return job !== undefined;
}
