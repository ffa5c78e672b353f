/** Datasets: where they lie, what they are called, what comes in and goes out. */
import {
  covers,
  type Dataset,
  type DatasetCreate,
  folderPart,
  normalisePath,
  type Permissions,
  type User,
  withoutSlashesAtEnd,
} from '@service/contract';

import { record } from '../audit/index.ts';
import type { Database } from '../db/index.ts';
import { type ImportRest, rowsOf } from '../engine/image-rows.ts';
import { type Origin, type Packed, refuse } from '../http/index.ts';
import { openProject, requireProject } from './access.ts';
import { type Executor, hasSubmittedJob } from './store/access.ts';
import * as store from './store/datasets.ts';
import { insertRows } from './store/new-images.ts';

/** A literal name on disk that other programs know. */
const FOLDER = 'fractal';

/** `base` and a folder below it; the parts of an S3 address stay as they are. */
function folderBelow(base: string, subfolder: string): string {
  if (subfolder === '.') return base.startsWith('s3://') ? withoutSlashesAtEnd(base) : normalisePath(base);
  const joined = `${base}/${subfolder}`;
  return base.startsWith('s3://') ? withoutSlashesAtEnd(joined) : normalisePath(joined);
}

/** The nearest of somebody's project folders that a path lies in. */
const nearestFolder = (dirs: readonly string[], path: string): string | undefined =>
  dirs.filter((dir) => covers(dir, path)).toSorted((one, other) => other.length - one.length)[0];

export async function openDataset(
  db: Executor,
  user: User,
  projectId: number,
  datasetId: number,
  needed: Permissions,
): Promise<Dataset> {
  const found = await store.findProjectAndDatasets(db, { userId: user.id, projectId, datasetId });
  requireProject(found?.project, needed);
  const dataset = found!.datasets[0];
  if (!dataset) throw refuse(404, 'There is no dataset with this id in the project.');
  return dataset;
}

export async function listDatasets(db: Executor, user: User, projectId: number): Promise<Dataset[]> {
  const found = await store.findProjectAndDatasets(db, { userId: user.id, projectId });
  requireProject(found?.project, 'r');
  return found!.datasets;
}

export async function createDataset(
  db: Database,
  user: User,
  projectId: number,
  body: DatasetCreate,
): Promise<Dataset> {
  const { project } = await openProject(db, user, projectId, 'rw');
  if (body.project_dir !== null && !user.project_dirs.includes(body.project_dir)) {
    throw refuse(403, `${body.project_dir} is not one of your project folders: ${user.project_dirs.join(', ')}.`);
  }
  const id = await store.nextDatasetId(db);
  const byDefault = `${FOLDER}/${project.id}_${folderPart(project.name)}/${id}_${folderPart(body.name)}`;
  const base = body.project_dir ?? user.project_dirs[0]!;
  const zarr_dir = folderBelow(base, body.zarr_subfolder ?? byDefault);
  const project_dir = nearestFolder(user.project_dirs, zarr_dir) ?? base;
  await store.insertDataset(db, { id, name: body.name, project_id: project.id, zarr_dir, project_dir });
  return (await store.findDataset(db, project, id))!;
}

export async function importDataset(
  db: Database,
  user: User,
  projectId: number,
  { rest: body, texts, more }: Packed<ImportRest>,
): Promise<Dataset> {
  const { project } = await openProject(db, user, projectId, 'rw');
  const { name, zarr_dir } = body;
  const project_dir = nearestFolder(user.project_dirs, zarr_dir);
  if (project_dir === undefined) {
    throw refuse(422, `${zarr_dir} is not inside one of your project folders: ${user.project_dirs.join(', ')}.`);
  }
  return db.transaction().execute(async (trx) => {
    const id = await store.insertDataset(trx, { name, project_id: project.id, zarr_dir, project_dir });
    await insertRows(trx, id, rowsOf(body, texts, more));
    return (await store.findDataset(trx, project, id))!;
  });
}

export async function updateDataset(
  db: Database,
  dataset: Dataset,
  changes: { name?: string | undefined; is_starred?: boolean },
): Promise<Dataset> {
  const { name, is_starred } = changes;
  if (name !== undefined) await store.updateDataset(db, dataset.id, { name });
  if (is_starred !== undefined) await store.updateDataset(db, dataset.id, { is_starred });
  return { ...dataset, ...(name === undefined ? {} : { name }), ...(is_starred === undefined ? {} : { is_starred }) };
}

/** Records only: files below `zarr_dir` stay. */
export async function deleteDataset(db: Database, by: Origin, dataset: Dataset): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // a job that is being submitted holds on to the dataset, or waits for this and finds it gone
    await store.lockDataset(trx, dataset.id);
    if (await hasSubmittedJob(trx, 'dataset_id', dataset.id)) {
      throw refuse(422, 'A job is running on this dataset. Wait for it, or stop it first.');
    }
    if (!(await store.deleteDataset(trx, dataset.id))) return;
    const details = { project: dataset.project.name, zarr_dir: dataset.zarr_dir };
    await record(trx, by, { action: 'dataset.delete', object: ['dataset', dataset.id, dataset.name], details });
  });
}
