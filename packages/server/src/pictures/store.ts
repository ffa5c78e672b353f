/** The SQL of pictures. */
import { sql } from 'kysely';

import type { Database } from '../db/index.ts';

/** Which contrast is meant: that of a plate of a dataset, seen in one way. */
export interface PlateOfDataset {
  dataset_id: number;
  plate: string;
  variant: string;
}

export interface Contrast {
  limits: [low: number, high: number][];
  num_wells: number;
}

export const findContrast = (db: Database, { dataset_id, plate, variant }: PlateOfDataset) =>
  db
    .selectFrom('plate_contrasts')
    .select(['limits', 'num_wells'])
    .where('dataset_id', '=', dataset_id)
    .where('plate', '=', plate)
    .where('variant', '=', variant)
    .executeTakeFirst() as Promise<Contrast | undefined>;

/** Nothing happens where the dataset is gone. */
export async function keepContrast(db: Database, of: PlateOfDataset, { limits, num_wells }: Contrast): Promise<void> {
  await sql`
    insert into plate_contrasts (dataset_id, plate, variant, limits, num_wells)
    select id, ${of.plate}, ${of.variant}, ${JSON.stringify(limits)}::jsonb, ${num_wells}
    from datasets where id = ${of.dataset_id}
    on conflict (dataset_id, plate, variant)
      do update set limits = excluded.limits, num_wells = excluded.num_wells`.execute(db);
}

/** Images that a task is working on right now. */
export async function beingWritten(db: Database, datasetId: number): Promise<Set<string>> {
  const { rows } = await sql<{ zarr_url: string }>`
    select distinct unnest(unit.zarr_urls) as zarr_url
    from history_runs run join history_units unit on unit.history_run_id = run.id
    where run.dataset_id = ${datasetId} and run.status = 'submitted'
      and unit.status = 'submitted' and unit.timestamp_started is not null`.execute(db);
  return new Set(rows.map(({ zarr_url }) => zarr_url));
}
