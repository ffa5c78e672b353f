/** What arrives of a lab's work: every column, ids, times and counts, from every revision that can be imported. */
import { describe, expect, it } from 'vitest';

import { RULES } from '../../src/import/rules.ts';
import { wrongCounts } from '../../src/import/verify.ts';
import { OLD_PLATE, type Row, TEMPLATE_DATA } from '../support/existing-database.ts';
import { REVISIONS } from '../support/existing-schema.ts';
import { oneIn } from '../support/long.ts';
import { emptyTarget, existing, imported, type Imported, runImport } from './importing.ts';

const at = (name: string) => `${OLD_PLATE}/${name}`;

const EXPECTED: Record<string, [sql: string, rows: Row[]]> = {
  'numbers as they were written': [
    'select position, zarr_url, origin, attributes::text, types::text from images order by position',
    [
      {
        position: 0,
        zarr_url: at('A/1'),
        origin: null,
        attributes: '{"gain": 1.50, "well": "A1"}',
        types: '{"is_3D": true}',
      },
      {
        position: 1,
        zarr_url: at('A/2'),
        origin: null,
        attributes: '{"big": 12345678901234567890, "well": "A2"}',
        types: '{}',
      },
      { position: 2, zarr_url: at('B/1'), origin: at('A/1'), attributes: '{}', types: '{"is_3D": false}' },
    ],
  ],
  'counts of images': ['select num_images, next_position from datasets', [{ num_images: 3, next_position: 3 }]],
  'the order of keys, and null where there is nothing': [
    `select args_schema_parallel::text, args_schema_non_parallel, meta_non_parallel::text, input_types::text, tags
     from tasks order by id`,
    [
      {
        args_schema_parallel: '{"b": 1, "a": {"default": 1.0}}',
        args_schema_non_parallel: null,
        meta_non_parallel: '{}',
        input_types: '{}',
        tags: ['one', 'two'],
      },
      {
        args_schema_parallel: null,
        args_schema_non_parallel: null,
        meta_non_parallel: '{}',
        input_types: '{}',
        tags: [],
      },
    ],
  ],
  'workflow tasks': [
    `select id, "order", meta_parallel::text, meta_non_parallel, args_parallel::text, args_non_parallel, revision,
       timestamp_modified from workflow_tasks order by id`,
    [
      {
        id: 1,
        order: 0,
        meta_parallel: '{"z": 1, "a": 2.0}',
        meta_non_parallel: null,
        args_parallel: '{"size": 2}',
        args_non_parallel: null,
        revision: 1,
        timestamp_modified: '2025-03-04T05:06:07.891011+00:00',
      },
      expect.objectContaining({ id: 2, order: 1, meta_parallel: null, args_parallel: null }),
    ],
  ],
  people: [
    'select id, email, slurm_accounts, project_dirs, profile_id, is_superuser from users order by id',
    [
      {
        id: 1,
        email: 'admin@example.org',
        slurm_accounts: [],
        project_dirs: ['/srv/projects'],
        profile_id: 1,
        is_superuser: true,
      },
      {
        id: 2,
        email: 'ann@example.org',
        slurm_accounts: ['lab'],
        project_dirs: ['/srv/projects'],
        profile_id: 1,
        is_superuser: false,
      },
      {
        id: 3,
        email: 'bob@example.org',
        slurm_accounts: [],
        project_dirs: ['/srv/projects'],
        profile_id: 1,
        is_superuser: false,
      },
    ],
  ],
  'an unknown date of joining': [
    'select distinct timestamp_joined from group_members',
    [{ timestamp_joined: '2000-01-01T00:00:00+00:00' }],
  ],
  'owner and guest': [
    'select owner_id, user_id, is_verified, permissions from projects p join project_guests g on g.project_id = p.id',
    [{ owner_id: 2, user_id: 3, is_verified: false, permissions: 'r' }],
  ],
  'templates as text': ['select data::text from workflow_templates', [{ data: TEMPLATE_DATA }]],
  'jobs without what nobody recorded': [
    'select id, user_id, status, snapshot, service_folder, failure, timestamp_first_unit from jobs',
    [
      {
        id: 1,
        user_id: 2,
        status: 'done',
        snapshot: null,
        service_folder: null,
        failure: null,
        timestamp_first_unit: null,
      },
    ],
  ],
  'runs, which end when the next one begins': [
    `select id, task_index, timestamp_ended, num_new_images, workflowtask_dump ->> 'input_filters' as filters
     from history_runs order by id`,
    [
      { id: 1, task_index: 0, timestamp_ended: '2025-03-04T05:10:07+00:00', num_new_images: null, filters: null },
      { id: 2, task_index: 1, timestamp_ended: '2025-03-04T05:16:07+00:00', num_new_images: null, filters: '{}' },
    ],
  ],
  'units, the first of a compound task being that of its init phase': [
    'select id, is_init, number, logfile, timestamp_started, exit_code from history_units order by id',
    [
      [1, false, 0],
      [2, false, 1],
      [3, false, 2],
      [4, true, 0],
      [5, false, 0],
      [6, false, 1],
    ].map(([id, is_init, number]) => ({
      id,
      is_init,
      number,
      logfile: '__LOGFILE_PLACEHOLDER__',
      timestamp_started: null,
      exit_code: null,
    })),
  ],
  'counts of units and images': [
    `select (select sum(num_units) from history_unit_counts) as units, status, has_warnings, num_images
     from history_image_counts order by has_warnings`,
    [
      { units: 6, status: 'done', has_warnings: false, num_images: 2 },
      { units: 6, status: 'done', has_warnings: true, num_images: 1 },
    ],
  ],
  activities: ['select log, steps, request from task_group_activities', [{ log: 'collected', steps: [], request: {} }]],
  accounting: [
    'select slurm_job_ids, fractal_job_id, history_run_id from accounting_records_slurm',
    [{ slurm_job_ids: [], fractal_job_id: 1, history_run_id: null }],
  ],
};

async function nextIds({ target }: Imported, tables: string[]): Promise<number[]> {
  const ids = [];
  for (const table of tables) {
    const { rows } = await target.pool.query<{ id: number }>(`select nextval('${table}_id_seq') as id`);
    ids.push(rows[0]!.id);
  }
  return ids;
}

describe.each(
  oneIn(
    4,
    REVISIONS.flatMap((revision) => [
      { revision, upgraded: false },
      { revision, upgraded: true },
    ]),
  ),
)('revision $revision, upgraded: $upgraded', (options) => {
  it('is imported whole', async () => {
    const done = await imported(await existing(options));
    for (const [what, [sql, rows]] of Object.entries(EXPECTED)) expect(await done.rows(sql), what).toEqual(rows);
    expect(done.lines).toEqual([]);
    const [stored] = await done.rows(`select revision, source_identity, report -> 'dry_run' as dry from imports`);
    expect(stored).toMatchObject({ revision: options.revision, dry: false });
  });
});

describe('ids', () => {
  it('go on after the last one that was ever given out, or that a row has', async () => {
    const from = await existing();
    await from.add('projectv2', { id: 500, name: 'by hand' });
    await from.add('linkuserprojectv2', { project_id: 500, user_id: 2, is_owner: true, permissions: 'rwx' });
    const done = await imported(from);
    expect(await nextIds(done, ['projects', 'jobs', 'history_units', 'users', 'imports', 'import_remainders'])).toEqual(
      [501, 101, 101, 101, 2, 1],
    );
  });
});

describe('datasets', () => {
  it('are kept with the nearest folder of those who are in their project, if there is one', async () => {
    const from = await existing();
    const person = (id: number, ...project_dirs: string[]) => from.add('user_oauth', { id, project_dirs });
    await from.query(`update user_oauth set project_dirs = '{/srv,NULL,/srv/owner/}' where id = 2`);
    await person(7, '/srv/guest');
    await person(8, '/srv/invited');
    await person(9, '/');
    const link = (user_id: number, is_verified: boolean, project_id = 1) =>
      from.add('linkuserprojectv2', { project_id, user_id, is_owner: false, is_verified, permissions: 'r' });
    await link(7, true);
    await link(8, false);
    await from.add('projectv2', { id: 7, name: 'without an owner' });
    await link(7, true, 7);
    const dataset = (id: number, zarr_dir: string, project_id = 1) =>
      from.add('datasetv2', { id, name: 'd', images: [], zarr_dir, project_id });
    await dataset(11, '/srv/owner/a');
    await dataset(12, '/srv/guest');
    await dataset(13, '/srv/guest2/a');
    await dataset(14, '/srv/invited/a');
    await dataset(15, '/elsewhere');
    await dataset(16, '/srv/projects/a', 7);
    await dataset(17, '/srv/guest/a', 7);
    const { rows } = await imported(from, { orphansTo: 'admin@example.org' });
    expect(await rows('select id, project_dir from datasets where id > 10 order by id')).toEqual(
      ['/srv/owner/', '/srv/guest', '/srv', '/srv', null, '/srv/projects', '/srv/guest'].map((project_dir, place) => ({
        id: 11 + place,
        project_dir,
      })),
    );
  });
});

describe('a trial', () => {
  it('leaves tables without a row and ids as they were, and finds the same', async () => {
    const from = await existing();
    await from.add('datasetv2', { id: 7, name: 'odd', images: [7] });
    const target = await emptyTarget();
    const state = async () => {
      const { rows: tables } = await target.pool.query<{ name: string }>(
        `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
      );
      const counts = tables
        .filter(({ name }) => !name.startsWith('schema_migrations'))
        .map(({ name }) => `select '${name}' as name where exists (select from "${name}")`);
      const { rows: filled } = await target.pool.query(counts.join(' union all '));
      const { rows: ids } = await target.pool.query(
        `select sequencename, last_value from pg_sequences where sequencename <> 'history_changes' order by 1`,
      );
      return { filled, ids };
    };
    const before = await state();
    expect(before.filled).toEqual([]);
    const trial = await runImport(from, target, { dryRun: true });
    expect(await state()).toEqual(before);
    const real = await runImport(from, target);
    const shape = (outcome: typeof trial) =>
      outcome.kind === 'done' ? [outcome.report.tables, outcome.report.settings, outcome.rules] : outcome;
    expect(shape(trial)).toEqual(shape(real));
  });
});

describe('the tables', () => {
  it('have the same keys, indexes and triggers afterwards', async () => {
    const target = await emptyTarget();
    const state = async () =>
      (
        await target.pool.query(
          `select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
             where connamespace = 'public'::regnamespace
           union all select relname, pg_get_indexdef(oid) from pg_class
             where relnamespace = 'public'::regnamespace and relkind = 'i'
           union all select tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
           order by 1, 2`,
        )
      ).rows;
    const before = await state();
    await runImport(await existing(), target);
    expect(await state()).toEqual(before);
  });
});

describe('a large import', () => {
  it('has a line for every row, of which the screen shows twenty', async () => {
    const from = await existing();
    await from.query(`insert into historyunit (history_run_id, has_warnings, status)
      select 1, false, 'submitted' from generate_series(1, 3000)`);
    const target = await emptyTarget();
    const outcome = await runImport(from, target);
    if (outcome.kind !== 'done') throw new Error('it was done before');
    expect(outcome.rules).toEqual([{ rule: 'units.unfinished', num: 3000, first: expect.any(Array) as unknown }]);
    expect(outcome.rules[0]!.first).toHaveLength(20);
    const { rows } = await target.pool.query<{ num: number }>(
      `select json_array_length(report -> 'rules') as num from imports`,
    );
    expect(rows).toEqual([{ num: 3000 }]);
    expect(outcome.report.tables.find(({ table }) => table === 'history_units')).toMatchObject({
      source_rows: 3006,
      imported: 3006,
      changed: 3000,
      left_over: 0,
    });
  });
});

it('every rule says what becomes of a row', () => {
  expect(new Set(Object.values(RULES))).toEqual(new Set(['change', 'value', 'leave', 'move', 'note']));
});

describe('what is compared at the end', () => {
  it.each([
    ['history_image_counts', 'history_image_cache', 'latest_history_unit_id = 999'],
    ['datasets.num_images', 'images', 'dataset_id = 999'],
  ])('%s misses a row of %s that refers to nothing', async (count, table, change) => {
    const { target } = await imported(await existing());
    const client = await target.pool.connect();
    try {
      expect(await wrongCounts(client)).toEqual([]);
      await client.query(`alter table ${table} disable trigger user`);
      const { rowCount } = await client.query(
        `update ${table} set ${change} where ctid = (select min(ctid) from ${table})`,
      );
      expect(rowCount).toBe(1);
      expect(await wrongCounts(client)).toContain(count);
    } finally {
      client.release();
    }
  });

  it('the look-ups that were left out while rows were copied are there again', async () => {
    const { rows } = await imported(await existing());
    expect(await rows(`select tgname from pg_trigger where tgenabled <> 'O' and not tgisinternal`)).toEqual([]);
    await expect(rows('update history_image_cache set latest_history_unit_id = 999')).rejects.toThrow('is not there');
  });
});
