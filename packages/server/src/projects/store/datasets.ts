/** The SQL of datasets. */
import { type ExpressionBuilder, sql, type Transaction } from 'kysely';

import type { Dataset, PageRequest, Project } from '@service/contract';

import { builtOnce, contains, type Tables } from '../../db/index.ts';
import { type Executor, type Found, foundProject, projectFor } from './access.ts';

const plates = (eb: ExpressionBuilder<Tables, 'datasets'>) =>
  eb
    .selectFrom('image_facets')
    .select((inner) => inner.fn.countAll<number>().as('count'))
    .whereRef('image_facets.dataset_id', '=', 'datasets.id')
    .where('image_facets.key', '=', 'plate')
    .where('image_facets.kind', '=', 'attribute')
    .as('num_plates');

const COLUMNS = [
  'datasets.id',
  'datasets.name',
  'datasets.project_id',
  'datasets.timestamp_created',
  'datasets.zarr_dir',
  'datasets.is_starred',
  'datasets.num_images as image_count',
] as const;

const selectDatasets = (db: Executor) => db.selectFrom('datasets').select(COLUMNS).select(plates);

type Row = Omit<Dataset, 'project' | 'num_plates'> & { num_plates: number | null };

const inProject = (row: Row, project: Project): Dataset => ({
  ...row,
  project,
  num_plates: row.num_plates ?? 0,
});

interface Asked {
  userId: number;
  projectId: number;
  datasetId?: number;
}

/** Datasets beside the project that they are in: one row without a dataset where there is none. */
const withProject = (db: Executor, { userId, projectId, datasetId }: Asked) =>
  projectFor(db, userId, projectId)
    .leftJoin('datasets', (join) => {
      const all = join.onRef('datasets.project_id', '=', 'projects.id');
      return datasetId === undefined ? all : all.on('datasets.id', '=', datasetId);
    })
    .select([
      'datasets.id as dataset_id',
      'datasets.name as dataset_name',
      'datasets.timestamp_created as dataset_timestamp_created',
      'datasets.is_starred as dataset_is_starred',
      'datasets.zarr_dir',
      'datasets.num_images',
    ])
    .select((eb) => plates(eb as ExpressionBuilder<Tables, 'datasets'>))
    .orderBy('datasets.is_starred', 'desc')
    .orderBy('datasets.name')
    .orderBy('datasets.id');

const selectWithProject = builtOnce(withProject);

type WithProject = Awaited<ReturnType<ReturnType<typeof withProject>['executeTakeFirstOrThrow']>>;

const datasetOf = (row: WithProject, project: Project): Dataset[] =>
  row.dataset_id === null
    ? []
    : [
        {
          id: row.dataset_id,
          name: row.dataset_name!,
          project_id: project.id,
          timestamp_created: row.dataset_timestamp_created!,
          zarr_dir: row.zarr_dir!,
          is_starred: row.dataset_is_starred!,
          image_count: row.num_images!,
          num_plates: row.num_plates ?? 0,
          project,
        },
      ];

interface FoundDatasets {
  project: Found;
  datasets: Dataset[];
}

function foundDatasets(rows: WithProject[]): FoundDatasets | undefined {
  if (rows.length === 0) return undefined;
  const project = foundProject(rows[0]!);
  return { project, datasets: rows.flatMap((row) => datasetOf(row, project.project)) };
}

/** A project for a caller, with all of its datasets, or with one of them if it is there. */
export const findProjectAndDatasets = async (db: Executor, asked: Asked): Promise<FoundDatasets | undefined> =>
  foundDatasets(await selectWithProject(db, asked));

export async function findDataset(db: Executor, project: Project, datasetId: number): Promise<Dataset | undefined> {
  const row = await selectDatasets(db)
    .where('datasets.id', '=', datasetId)
    .where('project_id', '=', project.id)
    .executeTakeFirst();
  return row && inProject(row, project);
}

/** The id of the next dataset, which is part of its default folder. */
export async function nextDatasetId(db: Executor): Promise<number> {
  const { rows } = await sql<{ id: number }>`select nextval(pg_get_serial_sequence('datasets', 'id')) as id`.execute(
    db,
  );
  return rows[0]!.id;
}

export async function insertDataset(
  db: Executor,
  dataset: { id?: number; name: string; project_id: number; zarr_dir: string; project_dir: string },
): Promise<number> {
  const row = await db.insertInto('datasets').values(dataset).returning('id').executeTakeFirstOrThrow();
  return row.id;
}

export async function updateDataset(
  db: Executor,
  datasetId: number,
  changes: { name?: string; is_starred?: boolean },
): Promise<void> {
  await db.updateTable('datasets').set(changes).where('id', '=', datasetId).execute();
}

/** Locks the dataset; true when it is there. */
export async function lockDataset(db: Transaction<Tables>, datasetId: number): Promise<boolean> {
  const row = await db.selectFrom('datasets').select('id').where('id', '=', datasetId).forUpdate().executeTakeFirst();
  return row !== undefined;
}

/** True when there was such a dataset. */
export async function deleteDataset(db: Executor, datasetId: number): Promise<boolean> {
  return (await db.deleteFrom('datasets').where('id', '=', datasetId).returning('id').execute()).length > 0;
}

interface Filter {
  project_name?: string | undefined;
  dataset_name?: string | undefined;
  only_owned: boolean;
}

/** Datasets of all projects that the user owns or has accepted an invitation to. */
export async function pageOfDatasets(db: Executor, userId: number, filter: Filter, page: PageRequest) {
  let query = db
    .selectFrom('datasets')
    .innerJoin('projects', 'projects.id', 'datasets.project_id')
    .innerJoin('project_links as link', 'link.project_id', 'projects.id')
    .innerJoin('users as owner', 'owner.id', 'projects.owner_id')
    .where('link.user_id', '=', userId)
    .where('link.is_verified', '=', true);
  if (filter.only_owned) query = query.where('link.is_owner', '=', true);
  if (filter.project_name) query = query.where('projects.name', 'ilike', contains(filter.project_name));
  if (filter.dataset_name) query = query.where('datasets.name', 'ilike', contains(filter.dataset_name));
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  let rows = query
    .select(COLUMNS)
    .select(plates)
    .select([
      'owner.email as owner_email',
      'link.is_owner',
      'link.permissions',
      'projects.name as project_name',
      'projects.description as project_description',
      'projects.is_starred as project_is_starred',
      'projects.timestamp_created as project_timestamp_created',
    ])
    .orderBy('datasets.is_starred', 'desc')
    .orderBy('datasets.timestamp_created', 'desc')
    .orderBy('datasets.id', 'desc');
  if (page.page_size !== null) rows = rows.limit(page.page_size).offset((page.page - 1) * page.page_size);
  const items = (await rows.execute()).map((row) => {
    const { is_owner, permissions, owner_email, num_plates, ...rest } = row;
    const { project_name, project_description, project_is_starred, project_timestamp_created, ...dataset } = rest;
    const project: Project = {
      id: dataset.project_id,
      name: project_name,
      description: project_description,
      is_starred: project_is_starred,
      timestamp_created: project_timestamp_created,
      is_owner,
      permissions,
      owner_email,
    };
    return { ...dataset, project, num_plates: num_plates ?? 0, owner_email };
  });
  return { total, items };
}

/** Another text whenever a task has begun or ended: what was read of its files before may not be true any more. */
export async function stateOfFiles(db: Executor, datasetId: number): Promise<string> {
  const { begun, running } = await db
    .selectFrom('history_runs')
    .select((eb) => [
      eb.fn.countAll<number>().as('begun'),
      eb.fn.countAll<number>().filterWhere('status', '=', 'submitted').as('running'),
    ])
    .where('dataset_id', '=', datasetId)
    .executeTakeFirstOrThrow();
  return `${begun} ${running}`;
}
