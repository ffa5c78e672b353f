/** Tags, facets, numbers and references of images are right after whatever was written, by whom and in whatever order. */
import fc from 'fast-check';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';

import { parseJson, type Scalar } from '@service/contract';

import { openDatabase, type OpenDatabase } from '../../src/db/index.ts';
import { migrations } from '../../src/db/migrations/index.ts';
import { imageLines } from '../../src/engine/image-rows.ts';
import { setTypes } from '../../src/projects/index.ts';
import { insertImages, insertRows } from '../../src/projects/store/new-images.ts';
import { freshDatabase } from '../support/server.ts';

type Query = (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;

const queryOf =
  (pool: { query: pg.Pool['query'] }): Query =>
  async (text, values = []) =>
    (await pool.query<Record<string, unknown>>(text, values)).rows;

/** Two datasets of a project, and a run with units for what history keeps of images. */
async function fill(query: Query): Promise<void> {
  await query('set session_replication_role = replica');
  await query(`insert into projects (id, name, resource_id, owner_id) values (1, 'p', 1, 1)`);
  await query(`insert into datasets (id, name, project_id, zarr_dir) values (1, 'a', 1, '/a'), (2, 'b', 1, '/b')`);
  await query(
    `insert into workflow_tasks (id, workflow_id, task_id, "order", task_type) values (1, 1, 1, 0, 'parallel')`,
  );
  await query(`insert into history_runs (id, dataset_id, workflowtask_id, job_id, workflowtask_dump, task_group_dump, status,
    num_available_images) values (1, 1, 1, 1, '{}', '{}', 'submitted', 1)`);
  await query(`insert into history_units (id, history_run_id, logfile, status) values (1, 1, '', 'submitted')`);
  await query('set session_replication_role = origin');
}

/** What the triggers keep, beside the same counted anew: no row where all is right. */
const WRONG = `
  with counted as (
    select dataset_id, image_attribute_tag(dataset_id, e.key, e.value) as tag, count(*) as num
    from images, jsonb_each(attributes) e group by 1, 2
    union all
    select dataset_id, image_type_tag(dataset_id, e.key, e.value = 'true'), count(*)
    from images, jsonb_each(types) e group by 1, 2
  )
  select 'facet' as what, coalesce(f.dataset_id, c.dataset_id) as dataset, f.num_images as kept, c.num as counted
  from image_facets f full join counted c on c.dataset_id = f.dataset_id and c.tag = f.tag
  where f.num_images is distinct from c.num
  union all
  select 'tags', dataset_id, position, null from images
  where (select array_agg(t order by t) from unnest(tags) t)
    is distinct from (select array_agg(t order by t) from unnest(image_tags(dataset_id, attributes, types)) t)
  union all
  select 'number', id, num_images, (select count(*) from images where dataset_id = d.id)
  from datasets d where num_images <> (select count(*) from images where dataset_id = d.id)`;

let database: OpenDatabase & { drop(): Promise<void> };
let query: Query;

beforeAll(async () => {
  database = await freshDatabase(4);
  query = queryOf(database.pool);
});
afterAll(() => database.drop());

const scalar = fc.constantFrom('"A"', '"a"', '1', '1.0', '2', '"1"', 'true', 'false', '12345678901234567890');
const attributes = fc.dictionary(fc.constantFrom('plate', 'well', '\u001f', '__proto__'), scalar, { maxKeys: 3 }).map(
  (map) =>
    `{${Object.entries(map)
      .map(([key, value]) => `${JSON.stringify(key)}: ${value}`)
      .join(', ')}}`,
);
const types = fc.dictionary(fc.constantFrom('3D', 'well', 'ok'), fc.boolean(), { maxKeys: 2 });
const some = fc.array(fc.nat(11), { minLength: 1, maxLength: 8 });
const places = (numbers: number[]) => numbers.map((n) => `/${n}`);

const edit = fc.oneof(
  fc.record({
    kind: fc.constant('insert' as const),
    some,
    attributes,
    types,
    brought: fc.boolean(),
    dataset: fc.constantFrom(1, 2),
  }),
  fc.record({ kind: fc.constant('copy' as const), some, attributes, types, dataset: fc.constantFrom(1, 2) }),
  fc.record({ kind: fc.constant('change' as const), some, attributes, types }),
  fc.record({ kind: fc.constant('add' as const), some, attributes, types }),
  fc.record({ kind: fc.constant('set types' as const), some, types }),
  fc.record({ kind: fc.constant('delete' as const), some }),
);

async function apply(one: typeof edit extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  const urls = places(one.some);
  if (one.kind === 'insert') {
    await query(
      `insert into images (dataset_id, position, zarr_url, attributes, types, tags)
       select $1, (select next_position from datasets where id = $1) + n, url, $3::jsonb, $4::jsonb,
         case when $5 then image_tags($1, $3::jsonb, $4::jsonb) end
       from unnest($2::text[]) with ordinality as list (url, n) on conflict do nothing`,
      [one.dataset, [...new Set(urls)], one.attributes, JSON.stringify(one.types), one.brought],
    );
  } else if (one.kind === 'copy') {
    const there = await query('select zarr_url from images where dataset_id = $1', [one.dataset]);
    const known = new Set(there.map(({ zarr_url }) => zarr_url));
    const images = [...new Set(urls)]
      .filter((url) => !known.has(url))
      .map((zarr_url, index) => ({
        zarr_url,
        origin: null,
        attributes: index === 1 ? {} : (parseJson(one.attributes) as Record<string, Scalar>),
        types: index === 2 ? { ok: false } : one.types,
      }));
    await database.db.transaction().execute(async (trx) => {
      await insertImages(trx, one.dataset, images);
      // what is written after it in the same transaction is counted as ever
      await sql`insert into images (dataset_id, position, zarr_url, attributes)
        select id, next_position, '/after/' || next_position, ${one.attributes}::jsonb from datasets`.execute(trx);
    });
  } else if (one.kind === 'change') {
    await query('update images set attributes = $2::jsonb, types = $3::jsonb where zarr_url = any($1)', [
      urls,
      one.attributes,
      JSON.stringify(one.types),
    ]);
  } else if (one.kind === 'add') {
    await query(
      `update images set attributes = attributes || $2::jsonb, types = types || $3::jsonb,
         tags = image_tags(dataset_id, attributes || $2::jsonb, types || $3::jsonb) where zarr_url = any($1)`,
      [urls, one.attributes, JSON.stringify(one.types)],
    );
  } else if (one.kind === 'set types') {
    const there = await query('select 1 from images where dataset_id = 1 and zarr_url = any($1)', [urls]);
    const all = await database.db.transaction().execute((trx) => setTypes(trx, 1, urls, one.types));
    expect(all).toBe(there.length === new Set(urls).size);
    const without = await query(
      'select 1 from images where dataset_id = 1 and zarr_url = any($1) and not types @> $2::jsonb',
      [urls, JSON.stringify(one.types)],
    );
    expect(without).toEqual([]);
  } else {
    await query('delete from images where zarr_url = any($1)', [urls]);
  }
}

describe('tags, facets and numbers', () => {
  beforeAll(() =>
    database.pool.connect().then(async (client) => {
      await fill(queryOf(client));
      client.release();
    }),
  );
  beforeEach(() => query('delete from images'));

  it('equal those counted anew, after any edits of many images at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { maxLength: 8 }), async (edits) => {
        await query('delete from images');
        for (const one of edits) {
          await apply(one);
          expect(await query(WRONG)).toEqual([]);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('of types that all images get are changed once, and nothing is written where all have them', async () => {
    await query(`insert into images (dataset_id, position, zarr_url, types)
      select 1, n, '/' || n, case when n < 10 then '{"new": true}' else '{"new": false, "3D": true}' end::jsonb
      from generate_series(0, 999) n`);
    const urls = Array.from({ length: 1000 }, (_, n) => `/${n}`);
    const all = await database.db.transaction().execute((trx) => setTypes(trx, 1, urls, { new: true, '3D': false }));
    expect(all).toBe(true);
    expect(await query(WRONG)).toEqual([]);
    expect(await query(`select key, value, num_images from image_facets where kind = 'type' order by key`)).toEqual([
      { key: '3D', value: false, num_images: 1000 },
      { key: 'new', value: true, num_images: 1000 },
    ]);
    const written = await query('select xmin::text from images');
    await database.db.transaction().execute((trx) => setTypes(trx, 1, urls, { new: true }));
    expect(await query('select xmin::text from images')).toEqual(written);
  });
});

describe('images that come while others are still being read', () => {
  it('leave nothing behind when reading fails', async () => {
    await query('delete from images');
    const image = (n: number) => ({
      zarr_url: `/${n}`,
      origin: null,
      attributes: { well: n % 7 },
      types: { '3D': true },
    });
    const { count, values, texts } = imageLines(Array.from({ length: 20_000 }, (_, n) => image(n)));
    async function* failing() {
      const [first, second] = [...texts];
      yield first!;
      await query('select 1');
      yield second!;
      throw new Error('no more to be had');
    }
    const adding = database.db.transaction().execute((trx) => insertRows(trx, 1, { count, values, texts: failing() }));
    await expect(adding).rejects.toThrow('no more to be had');
    expect(await query('select 1 from images union all select 1 from image_facets')).toEqual([]);
    await database.db.transaction().execute((trx) => insertImages(trx, 1, [image(1), image(2)]));
    expect(await query(WRONG)).toEqual([]);
    expect((await query('select num_images from datasets where id = 1'))[0]).toEqual({ num_images: 2 });
  });
});

const refusal = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: { constraint?: string; code?: string }) => error.constraint ?? error.code,
  );

describe('what images refer to', () => {
  const image = (dataset: number) =>
    query(`insert into images (dataset_id, position, zarr_url) values ($1, 1000, '/referring')`, [dataset]);
  const status = (dataset: number, task: number, unit: number) =>
    query('insert into history_image_cache values ($1, $2, $3, $4)', [dataset, task, '/x', unit]);

  it('has to be there', async () => {
    await query('delete from images');
    expect(await refusal(image(99))).toBe('images_dataset_id_fkey');
    expect(await refusal(status(99, 1, 1))).toBe('history_image_cache_dataset_id_fkey');
    expect(await refusal(status(1, 99, 1))).toBe('history_image_cache_workflowtask_id_fkey');
    expect(await refusal(status(1, 1, 99))).toBe('history_image_cache_latest_history_unit_id_fkey');
    await status(1, 1, 1);
    expect(await refusal(query('update history_image_cache set latest_history_unit_id = 99'))).toBe(
      'history_image_cache_latest_history_unit_id_fkey',
    );
    await image(1);
    expect(await refusal(query('update images set dataset_id = 2'))).toBe('23000');
    expect((await query('select count(*)::int as num from images'))[0]).toEqual({ num: 1 });
  });

  it('takes them along when it goes', async () => {
    await query('delete from history_runs');
    expect(await query('select 1 from history_image_cache')).toEqual([]);
    await query('delete from datasets where id = 1');
    expect(await query('select 1 from images')).toEqual([]);
    expect(await query('select 1 from image_facets where dataset_id = 1')).toEqual([]);
  });

  it('is not deleted while somebody adds an image to it, or else the image is refused', async () => {
    const [adding, deleting] = [await database.pool.connect(), await database.pool.connect()];
    await adding.query('begin');
    await adding.query(`insert into images (dataset_id, position, zarr_url) values (2, 0, '/late')`);
    const gone = deleting.query('delete from datasets where id = 2');
    await adding.query('commit');
    await gone;
    expect(await query('select 1 from images')).toEqual([]);

    await query(`insert into datasets (id, name, project_id, zarr_dir) values (3, 'c', 1, '/c')`);
    await deleting.query('begin');
    await deleting.query('delete from datasets where id = 3');
    const late = refusal(image(3));
    await deleting.query('commit');
    expect(await late).toBe('images_dataset_id_fkey');
    adding.release();
    deleting.release();
    expect(await query('select 1 from images')).toEqual([]);
  });
});

describe('a database of before', () => {
  it('is brought up to date with its images, which count as those of now', async () => {
    const administration = new pg.Client(inject('connection'));
    await administration.connect();
    await administration.query('create database older');
    const older = openDatabase({ ...inject('connection'), database: 'older' }, { connections: 1 });
    try {
      const migrator = new Migrator({ db: older.db, provider: { getMigrations: () => Promise.resolve(migrations) } });
      const { error } = await migrator.migrateTo('0011-unknown-new-images');
      expect(error).toBeUndefined();
      const ask = queryOf(older.pool);
      await fill(ask);
      await ask(`insert into images (dataset_id, position, zarr_url, attributes, types)
        select 1, n, '/' || n, jsonb_build_object('well', n % 7), '{"3D": true}' from generate_series(0, 99) n`);
      expect((await migrator.migrateToLatest()).error).toBeUndefined();
      await ask(`update images set types = types || '{"new": true}' where position < 50`);
      await ask('delete from images where position > 90');
      expect(await ask(WRONG)).toEqual([]);
      expect(await ask('select num_images from datasets where id = 1')).toEqual([{ num_images: 91 }]);
    } finally {
      await older.close();
      await administration.query('drop database older with (force)');
      await administration.end();
    }
  });
});
