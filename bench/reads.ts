/**
 * What we promise about the reads that pages begin with, and about single edits: each costs about what its statement costs.
 * Beside each operation runs a bare route with the statement that the operation ends with, named, which sends the same bytes.
 */
import autocannon from 'autocannon';
import pg from 'pg';

import { createProject } from './jobs.ts';
import { type Call, caller, line, login, median, ratio, type Servers, withServers } from './support.ts';

const SECONDS = 3;
const ROUNDS = 3;
const EDITS = 300;
const [PROJECTS, DATASETS, TASKS, JOBS, GROUPS, IMAGES] = [50, 20, 20, 25, 20, 10_000];

const TASK_SCHEMA = {
  title: 'Task',
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: 12 }, (_, n) => [
      `argument_${n}`,
      { title: `Argument ${n}`, type: 'integer', description: 'What it is for, in some words.' },
    ]),
  ),
};

interface FilledProject {
  project: number;
  dataset: { id: number; zarr_dir: string };
  workflow: number;
}

/** A person with projects, and one of these with datasets, images, a workflow, jobs and task groups. */
async function fill(db: pg.Client, call: Call): Promise<FilledProject> {
  const { project } = await createProject(db);
  await db.query(
    `insert into projects (name, resource_id, owner_id)
     select 'project ' || n, (select min(id) from resources), 1 from generate_series(2, $1::int) n`,
    [PROJECTS],
  );
  await db.query(
    `insert into datasets (name, project_id, zarr_dir)
     select 'dataset ' || n, p.id, '/p/' || n from projects p, generate_series(1, $1::int) n`,
    [DATASETS],
  );
  await db.query(
    `with g as (
       insert into task_groups (user_id, resource_id, origin, pkg_name, version)
       select 1, (select min(id) from resources), 'other', 'package ' || n / 2, n::text from generate_series(1, $1::int) n
       returning id
     )
     insert into tasks (taskgroupv2_id, name, type, version, command_parallel, args_schema_parallel)
     select g.id, 'task ' || n, 'parallel', '1', '/bin/true', $2 from g, generate_series(1, 10) n`,
    [GROUPS, JSON.stringify(TASK_SCHEMA)],
  );
  const { id: workflow } = (await call.post(`/api/v2/project/${project}/workflow/`, { name: 'flow' })) as {
    id: number;
  };
  await db.query(
    `insert into workflow_tasks (workflow_id, task_id, "order", task_type, args_parallel)
     select $1, id, row_number() over (order by id) - 1, 'parallel', '{"argument_1": 1, "argument_2": 2}'
     from tasks order by id limit $2`,
    [workflow, TASKS],
  );
  await db.query(
    `insert into jobs (project_id, workflow_id, user_id, user_email, dataset_dump, workflow_dump, project_dump,
       fractal_server_version, first_task_index, last_task_index, status, log)
     select p.id, case when p.id = $1 then $2::int end, 1, 'admin@example.org', json_build_object('id', 1, 'name', 'dataset', 'zarr_dir', '/p/1'),
       json_build_object('id', 1, 'name', 'flow'), json_build_object('id', p.id, 'name', p.name), '1', 0, 5, 'done',
       repeat('a line of the log ', 50)
     from projects p, generate_series(1, $3::int)`,
    [project, workflow, JOBS],
  );
  await db.query(
    `insert into history_runs (dataset_id, job_id, workflowtask_dump, task_group_dump, status, num_available_images, timestamp_started)
     select (select min(d.id) from datasets d where d.project_id = jobs.project_id), id, '{"task": {"name": "task"}}', '{}', 'done', 10, now() from jobs`,
  );
  const dataset = (await call.post(`/api/v2/project/${project}/dataset/`, {
    name: 'images',
  })) as FilledProject['dataset'];
  await db.query(
    `insert into images (dataset_id, position, zarr_url, attributes, types)
     select $1, n, $2 || '/plate.zarr/' || n,
       jsonb_build_object('plate', 'plate.zarr', 'well', 'W' || n % 96, 'acquisition', n % 3), '{"is_3D": true}'
     from generate_series(0, $3::int - 1) n`,
    [dataset.id, dataset.zarr_dir, IMAGES],
  );
  await db.query('vacuum analyze');
  return { project, dataset, workflow };
}

interface Operation {
  method?: 'GET' | 'POST';
  url: string;
  payload?: object;
}

const reads = ({ project, dataset, workflow }: FilledProject): Record<string, Operation> => ({
  [`project list, ${PROJECTS} projects`]: { url: '/api/v2/project/' },
  [`dataset list, ${DATASETS + 1} datasets`]: { url: `/api/v2/project/${project}/dataset/` },
  [`workflow of ${TASKS} tasks`]: { url: `/api/v2/project/${project}/workflow/${workflow}/` },
  [`job list, ${JOBS} jobs`]: { url: `/api/v2/project/${project}/job/` },
  [`task-group list, ${GROUPS + 1} groups`]: { url: '/api/v2/task-group/' },
  'images, a page of a filter': {
    method: 'POST',
    url: `/api/v2/project/${project}/dataset/${dataset.id}/images/query/?page=1&page_size=50`,
    payload: { attribute_filters: { well: ['W7', 'W9'] }, type_filters: { is_3D: true } },
  },
});

async function perSecond({ url, method = 'GET', payload }: Operation, token?: string): Promise<number> {
  const result = await autocannon({
    url,
    method,
    connections: 10,
    duration: SECONDS,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(payload ? { 'content-type': 'application/json' } : {}),
    },
    ...(payload ? { body: JSON.stringify(payload) } : {}),
  });
  if (result.non2xx + result.errors > 0) throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} failed`);
  return result.requests.average;
}

const keyOf = (name: string) => name.replace(/\W+/g, '-');

async function measureReads({ serviceUrl, bareUrl }: Servers, token: string, filled: FilledProject): Promise<void> {
  const learner = caller(bareUrl, token);
  const operations = Object.entries(reads(filled));
  const statements = new Map<string, number>();
  for (const [name, operation] of operations) {
    const learnt = await learner.post(`/learn/${keyOf(name)}`, { method: 'GET', ...operation, token });
    statements.set(name, (learnt as { statements: number }).statements);
  }
  for (const [name, operation] of operations) {
    const alone = operation.payload ? { method: 'POST' as const, payload: {} } : {};
    const rates: { ours: number; bare: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      rates.push({
        bare: await perSecond({ url: `${bareUrl}/run/${keyOf(name)}`, ...alone }),
        ours: await perSecond({ ...operation, url: serviceUrl + operation.url }, token),
      });
    }
    const [ours, bare] = [median(rates.map((rate) => rate.ours)), median(rates.map((rate) => rate.bare))];
    line(name, `${ours.toFixed(0)} /s`, `bare ${bare.toFixed(0)} /s, ${statements.get(name)} statements`);
    line('ratio', ratio(ours / bare), '(promised: at least 0.5)');
  }
}

async function medianTime(work: (round: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < EDITS; round++) {
    const start = performance.now();
    await work(round);
    times.push(performance.now() - start);
  }
  return median(times);
}

/** One after the other, since edits of one dataset wait for each other anyway. */
async function measureEdits({ serviceUrl, bareUrl }: Servers, token: string, filled: FilledProject): Promise<void> {
  const { project, dataset } = filled;
  const url = `/api/v2/project/${project}/dataset/${dataset.id}/images/`;
  const [service, bare] = [caller(serviceUrl, token), caller(bareUrl, token)];
  const image = (kind: string, round: number) => ({
    zarr_url: `${dataset.zarr_dir}/${kind}/${round}`,
    attributes: { plate: 'plate.zarr', well: `W${round % 96}` },
    types: { is_3D: true },
  });
  const first = { zarr_url: `${dataset.zarr_dir}/plate.zarr/0` };
  const edits = {
    PATCH: (_kind: string, round: number) => ({
      ...first,
      attributes: { plate: 'plate.zarr', well: `W${round % 96}` },
    }),
    POST: image,
  } as const;
  for (const [method, bodyOf] of Object.entries(edits)) {
    const learnt = (await bare.post(`/learn/${method}`, { method, url, token, payload: bodyOf('learnt', 0) })) as {
      values: unknown[];
      statements: number;
    };
    // what differs from round to round is found in the values by what it was
    const inRound = (round: number) =>
      JSON.parse(
        JSON.stringify(learnt.values)
          .replaceAll('/learnt/0', `/bare/${round}`)
          .replaceAll('W0', `W${(round + 1) % 96}`),
      ) as unknown[];
    const ask = method === 'POST' ? service.post : service.patch;
    const ours = await medianTime((round) => ask(url, bodyOf('ours', round)));
    const alone = await medianTime((round) => bare.post(`/run/${method}`, { values: inRound(round) }));
    line(
      `${method} of an image`,
      `${ours.toFixed(2)} ms`,
      `bare ${alone.toFixed(2)} ms, ${learnt.statements} statements`,
    );
    line('ratio', ratio(ours / alone), '(promised: at most 2.5)');
  }
}

async function measure(servers: Servers): Promise<void> {
  const db = new pg.Client(servers.connection);
  await db.connect();
  try {
    const token = await login(servers.serviceUrl);
    const filled = await fill(db, caller(servers.serviceUrl, token));
    await measureEdits(servers, token, filled);
    await measureReads(servers, token, filled);
  } finally {
    await db.end();
  }
}

export const run = () => withServers(measure);
