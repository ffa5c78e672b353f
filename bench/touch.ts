/**
 * What we promise about tasks that touch every image: from submit to done, one that does nothing and sets one type costs little
 * more than to write what it changes.
 */
import pg from 'pg';

import { createDataset, createProject, createWorkflow, runJob } from './jobs.ts';
import { type Call, caller, line, login, median, ratio, type Servers, withServers } from './support.ts';

const SIZES = [20_000, 100_000];
const ROUNDS = 3;
const TYPE = 'touched';

/** The same images and what history keeps of them, in tables with the same indexes and no triggers. */
async function copyTables(db: pg.Client, dataset: number): Promise<void> {
  await db.query('drop table if exists bare_images, bare_cache');
  await db.query('create table bare_images (like images including all)');
  await db.query('create table bare_cache (like history_image_cache including all)');
  await db.query('insert into bare_images select * from images where dataset_id = $1', [dataset]);
  await db.query('vacuum analyze bare_images');
}

async function bareTransaction(db: pg.Client, dataset: number): Promise<number> {
  await copyTables(db, dataset);
  const start = performance.now();
  await db.query('begin');
  await db.query('insert into bare_cache select dataset_id, 1, zarr_url, 1 from bare_images');
  await db.query(
    `update bare_images set types = types || jsonb_build_object($2::text, true), tags = tags || image_type_tag($1, $2, true)
     where dataset_id = $1`,
    [dataset, TYPE],
  );
  await db.query('commit');
  return (performance.now() - start) / 1000;
}

const seconds = (value: number) => `${value.toFixed(2)} s`;

async function measureSize(
  { call, db }: { call: Call; db: pg.Client },
  { project, workflow }: ProjectAndWorkflow,
  size: number,
): Promise<void> {
  const rounds: { ours: number; bare: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const dataset = await createDataset(db, project, size);
    await db.query('vacuum analyze images');
    const bare = await bareTransaction(db, dataset);
    const ours = await runJob({ call, db }, project, workflow, dataset);
    const { rows } = await db.query<{ touched: number }>(
      `select num_images as touched from image_facets where dataset_id = $1 and key = $2 and kind = 'type'`,
      [dataset, TYPE],
    );
    if (rows[0]?.touched !== size) throw new Error(`${rows[0]?.touched ?? 0} of ${size} images were touched`);
    rounds.push({ ours, bare });
  }
  const [ours, bare] = [median(rounds.map((round) => round.ours)), median(rounds.map((round) => round.bare))];
  line(`one type on all of ${size} images`, seconds(ours));
  line('one transaction without triggers', seconds(bare));
  line('ratio', ratio(ours / bare), '(promised: at most 2.5)');
}

interface ProjectAndWorkflow {
  project: number;
  workflow: number;
}

async function measure({ serviceUrl, connection }: Servers): Promise<void> {
  const db = new pg.Client(connection);
  await db.connect();
  try {
    const call = caller(serviceUrl, await login(serviceUrl));
    const { project, group } = await createProject(db);
    const task = { name: 'touch', type: 'non_parallel', command: '/bin/true' };
    const workflow = await createWorkflow(db, { project, group }, task);
    await db.query(`update tasks set output_types = jsonb_build_object($1::text, true) where name = 'touch'`, [TYPE]);
    for (const size of SIZES) await measureSize({ call, db }, { project, workflow }, size);
  } finally {
    await db.end();
  }
}

export const run = (): Promise<void> => withServers(measure);
