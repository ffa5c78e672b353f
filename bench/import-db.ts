/**
 * What we promise about moving in: 100 000 images, a million units and a million rows of the image cache, imported and
 * verified, beside a bare COPY of the same bytes into tables with the same indexes. A number after the name is another
 * number of images, to see that all works: `npm run bench -- import-db 1000`.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';

import { openEmbeddedDatabase } from '../packages/server/src/db/index.ts';
import { openExisting } from '../packages/server/test/support/existing-database.ts';
import { line, ratio } from './support.ts';

const ROOT = join(import.meta.dirname, '..');
const IMAGES = Number(process.argv[3] ?? 100_000);
const RUNS = 10;
const UNITS = IMAGES * RUNS;

/** A dataset of many images, on which a job ran a workflow of ten tasks. */
const FILL = `
  insert into datasetv2 (id, name, project_id, timestamp_created, zarr_dir, images)
  select 50, 'large', 1, now(), '/srv/zarr', jsonb_agg(jsonb_build_object(
    'zarr_url', '/srv/zarr/plate' || n / 384 || '.zarr/' || n % 384 || '/0', 'origin', null,
    'attributes', jsonb_build_object('plate', 'plate' || n / 384, 'well', n % 384, 'acquisition', n % 3),
    'types', jsonb_build_object('is_3D', true, 'corrected', n % 2 = 0)) order by n)
  from generate_series(0, ${IMAGES - 1}) n;
  insert into workflowv2 (id, name, project_id, timestamp_created) values (50, 'large', 1, now());
  insert into workflowtaskv2 (id, workflow_id, "order", task_type, task_id)
  select 50 + n, 50, n, 'parallel', 1 from generate_series(0, ${RUNS - 1}) n;
  insert into jobv2 (id, project_id, workflow_id, dataset_id, user_email, dataset_dump, workflow_dump, project_dump,
    first_task_index, last_task_index, start_timestamp, end_timestamp, status)
  values (50, 1, 50, 50, 'ann@example.org', '{}', '{}', '{}', 0, ${RUNS - 1}, now(), now(), 'done');
  insert into historyrun (id, dataset_id, workflowtask_id, job_id, task_id, workflowtask_dump, task_group_dump,
    timestamp_started, status, num_available_images)
  select 50 + n, 50, 50 + n, 50, 1, jsonb_build_object('order', n, 'task_type', 'parallel'), '{}', now(), 'done', ${IMAGES}
  from generate_series(0, ${RUNS - 1}) n;
  insert into historyunit (id, history_run_id, logfile, has_warnings, status, zarr_urls)
  select 1000 + n, 50 + n / ${IMAGES}, '/srv/jobs/2025-03/job/task/' || n || '.log', n % 100 = 0, 'done',
    array['/srv/zarr/plate' || n % ${IMAGES} / 384 || '.zarr/' || n % ${IMAGES} % 384 || '/0']
  from generate_series(0, ${UNITS - 1}) n;
  insert into historyimagecache (dataset_id, workflowtask_id, zarr_url, latest_history_unit_id)
  select 50, history_run_id, zarr_urls[1], id from historyunit where id >= 1000`;

const LARGE: Record<string, string> = {
  images: 'dataset_id, position, zarr_url, origin, attributes, types, tags',
  history_units: 'id, history_run_id, logfile, has_warnings, status, zarr_urls, number, is_init',
  history_image_cache: 'dataset_id, workflowtask_id, zarr_url, latest_history_unit_id',
};

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** The command as people run it; its largest memory is read while it runs. */
async function runCommand(from: string, password: string, data: string): Promise<{ ms: number; peak: number }> {
  const start = performance.now();
  const child = spawn(process.execPath, [join(ROOT, 'packages/server/src/cli/main.ts'), 'import-db', '--from', from], {
    cwd: data,
    env: { PATH: process.env['PATH'], SERVICE_DATA_DIR: data, PGPASSWORD: password },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let peak = 0;
  const watching = setInterval(() => {
    try {
      peak = Math.max(
        peak,
        Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024,
      );
    } catch {
      // it has ended
    }
  }, 50);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  clearInterval(watching);
  if (code !== 0) throw new Error(`import-db ended with ${String(code)}`);
  return { ms: performance.now() - start, peak };
}

/** Our own rows, copied once more between the two servers, into tables that have indexes and nothing else. */
async function bareCopy(target: pg.Client, other: pg.Client): Promise<number> {
  let spent = 0;
  for (const [table, columns] of Object.entries(LARGE)) {
    const { rows } = await target.query<{ column: string; type: string }>(
      `select attname as column, format_type(atttypid, atttypmod) as type from pg_attribute
       where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped order by attnum`,
    );
    // from the source's server into the target's, as the import goes
    await other.query(
      `create table bare_${table} (${rows.map(({ column, type }) => `"${column}" ${type}`).join(', ')})`,
    );
    await pipeline(
      target.query(copyTo(`copy (select ${columns} from ${table}) to stdout`)),
      other.query(copyFrom(`copy bare_${table} (${columns}) from stdin`)),
    );
    await target.query(`create table bare_${table} (like ${table} including indexes including defaults)`);
    const start = performance.now();
    await pipeline(
      other.query(copyTo(`copy (select ${columns} from bare_${table}) to stdout`)),
      target.query(copyFrom(`copy bare_${table} (${columns}) from stdin`)),
    );
    spent += performance.now() - start;
  }
  return spent;
}

export async function run(): Promise<void> {
  const folders = ['old', 'new'].map((name) => mkdtempSync(join(tmpdir(), `service-bench-${name}-`)));
  const [oldData, newData] = folders as [string, string];
  const old = await openEmbeddedDatabase(oldData);
  const existing = await openExisting(old.connection);
  await existing.query(FILL);
  await existing.query('vacuum analyze');
  await existing.leave();
  const { host, port, user, password } = old.connection;
  const { ms, peak } = await runCommand(`postgresql://${user}@${host}:${port}/${existing.name}`, password!, newData);
  const fresh = await openEmbeddedDatabase(newData);
  const [target, other] = [new pg.Client(fresh.connection), new pg.Client(existing.connection)];
  await Promise.all([target.connect(), other.connect()]);
  const bare = await bareCopy(target, other);
  await Promise.all([target.end(), other.end()]);
  line('import, verification included', seconds(ms), '(promised: under 120 s)');
  line('bare COPY of the large tables, same indexes', seconds(bare));
  line('ratio', ratio(ms / bare), '(promised: at most 2.5)');
  line('largest memory of the command', `${peak.toFixed(0)} MB`, '(promised: under 250 MB)');
  await Promise.all([old.leave(), fresh.leave()]);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
