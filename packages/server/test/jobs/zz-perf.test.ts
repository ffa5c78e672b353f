import { sql } from 'kysely';
import { it } from 'vitest';
import { startService } from '../support/server.ts';
import { addJob, addRunWithUnits, addScene } from '../support/tasks.ts';
import { taskStatuses } from '../../src/jobs/task-statuses.ts';

it('perf', { timeout: 600_000 }, async () => {
  const service = await startService({ background: false });
  const { db } = service.database;
  const scene = await addScene(service, new Array(20).fill('parallel'));
  const N = 100_000;
  const job = await addJob(service, { project_id: scene.project, workflow_id: scene.workflow, dataset_id: scene.dataset, status: 'done' });
  await sql`insert into images (dataset_id, position, zarr_url, attributes, types) select ${scene.dataset}, n, '/data/plate/' || n || '/0/image.zarr', jsonb_build_object('plate', n % 10), '{}' from generate_series(1, ${N}::int) n`.execute(db);
  for (const [i, step] of scene.steps.entries()) {
    const { run } = await addRunWithUnits(service, { dataset_id: scene.dataset, workflowtask_id: step, job_id: job, task_index: i });
    await sql`with u as (insert into history_units (history_run_id, logfile, status, zarr_urls, number, timestamp_started, timestamp_ended)
      select ${run}, '/some/long/folder/job/task/log_' || n || '.log', case when n % 1000 = 0 then 'failed' else 'done' end, array['/data/plate/' || n || '/0/image.zarr'], n, now(), now() from generate_series(1, ${N}::int) n returning id, zarr_urls)
      insert into history_image_cache select ${scene.dataset}, ${step}, zarr_urls[1], id from u`.execute(db);
  }
  await sql`vacuum analyze history_units`.execute(db); await sql`vacuum analyze history_image_cache`.execute(db);await sql`vacuum analyze images`.execute(db);
  const time = async (name: string, work: () => Promise<unknown>) => { for (let i = 0; i < 3; i++) { const t = Date.now(); await work(); console.log(name, Date.now() - t); } };
  const place = { workflow_id: scene.workflow, dataset_id: scene.dataset };
  for (const index of [false, true]) {
    if (index) await sql`create index history_units_notable on history_units (history_run_id) where status <> 'done' or has_warnings`.execute(db);
    console.log('index', index);
    await time('latest-job all', () => taskStatuses(db, [place]));
    await time('one task', () => taskStatuses(db, [place], [scene.steps[0]!]));
    await time('timeline', () => scene.owner.client.get(`/api/v2/project/${scene.project}/job/${job}/timeline/`));
  }
  const q = async (body: object, query = '') => { const r = await scene.owner.client.post(`/api/v2/project/${scene.project}/status/images/?dataset_id=${scene.dataset}&workflowtask_id=${scene.steps[3]}&page=1&page_size=50${query}`, body); if (r.status !== 200) throw new Error(r.text); };
  await time('images', () => q({}));
  await time('images sorted by status', () => q({}, '&sort=-status'));
  await time('images failed', () => q({ attribute_filters: { __wftask_dataset_image_status__: ['failed'] } }));
  await time('images last page', () => q({}, '').then(() => undefined));
  await time('runs', () => scene.owner.client.get(`/api/v2/project/${scene.project}/status/run/?dataset_id=${scene.dataset}&workflowtask_id=${scene.steps[3]}`));
  await time('units', () => scene.owner.client.get(`/api/v2/project/${scene.project}/status/run/4/units/?dataset_id=${scene.dataset}&workflowtask_id=${scene.steps[3]}&page=1000&page_size=50`));
  await time('timeline', () => scene.owner.client.get(`/api/v2/project/${scene.project}/job/${job}/timeline/`));
  const explain = async (text: ReturnType<typeof sql>) => console.log((await sql<Record<string, string>>`explain (analyze, buffers) ${text}`.execute(db)).rows.map((r) => Object.values(r)[0]).join('\n'));
  await explain(sql`select coalesce(unit.status, 'unset') as status, count(*) from images left join history_image_cache cache on cache.dataset_id = ${scene.dataset} and cache.zarr_url = images.zarr_url
    and cache.workflowtask_id = ${scene.steps[3]}
  left join history_units unit on unit.id = cache.latest_history_unit_id where images.dataset_id = ${scene.dataset} group by 1`);
  await explain(sql`select dataset_id, workflowtask_id, count(*) as num from history_image_cache
      where workflowtask_id = any(${scene.steps}::int[]) and dataset_id = any(${[scene.dataset]}::int[]) group by 1, 2`);
  await explain(sql`select history_run_id, is_init, count(*) as num from history_units
      where history_run_id = any(${scene.steps}::int[]) group by 1, 2`);
});
