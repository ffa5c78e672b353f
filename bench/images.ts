/** What we promise about big plates: cost grows with what is touched, not with what is there. */
import { readFileSync, rmSync } from 'node:fs';

import pg from 'pg';

import { type Call, caller, line, login, median, ratio, type Servers, withServers } from './support.ts';

const MATCHES = 500;
const SIZES = [1000, 100_000, 1_000_000];
const IMPORT = 100_000;
const ROUNDS = 15;

/** The median time of several calls, in milliseconds. */
async function time(work: (round: number) => Promise<unknown>, rounds = ROUNDS): Promise<number> {
  await work(-1);
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    await work(round);
    times.push(performance.now() - start);
  }
  return median(times);
}

const ms = (value: number) => `${value.toFixed(1)} ms`;

/** Images of plates of 384 wells; `MATCHES` of them are hits, one in ten has `tenth`. */
const imageSql = `
  select $1::int, n, '/data/' || $1 || '/plate' || n / 384 || '.zarr/' || n % 384 || '/0', null,
    jsonb_build_object('plate', 'plate' || n / 384, 'well', n % 384, 'acquisition', n % 3, 'tenth', n % 10,
                       'batch', case when n % ($2::int / ${MATCHES}) = 0 then 'hit' else 'miss' end),
    jsonb_build_object('is_3D', true, 'corrected', n % 2 = 0)
  from generate_series(0, $2::int - 1) n`;

async function load(db: pg.Client, dataset: number, size: number): Promise<void> {
  await db.query(`insert into images (dataset_id, position, zarr_url, origin, attributes, types) ${imageSql}`, [
    dataset,
    size,
  ]);
}

async function newDataset(call: Call, project: number, name: string): Promise<{ id: number; zarr_dir: string }> {
  return (await call.post(`/api/v2/project/${project}/dataset/`, { name })) as { id: number; zarr_dir: string };
}

const newProject = async (call: Call, name: string) =>
  ((await call.post('/api/v2/project/', { name })) as { id: number }).id;

async function importBeside(call: Call, db: pg.Client, project: number, pid: number): Promise<void> {
  const images = Array.from({ length: IMPORT }, (_, n) => ({
    zarr_url: `/p/imported/plate${Math.floor(n / 384)}.zarr/${n % 384}/0`,
    origin: null,
    attributes: {
      plate: `plate${Math.floor(n / 384)}`,
      well: n % 384,
      acquisition: n % 3,
      batch: n % 200 === 0 ? 'hit' : 'miss',
    },
    types: { is_3D: true, corrected: n % 2 === 0 },
  }));
  const body = { name: 'imported', zarr_dir: '/p/imported', images };
  let dataset = 0;
  const importing = await time(async () => {
    dataset = ((await call.post(`/api/v2/project/${project}/dataset/import/`, body)) as { id: number }).id;
  }, 3);
  const file = `/tmp/service-bench-${process.pid}.copy`;
  await db.query(
    `copy (select dataset_id, position, zarr_url, origin, attributes, types, tags from images where dataset_id = ${dataset}) to '${file}'`,
  );
  const copyTimes: number[] = [];
  for (let round = 0; round < 4; round++) {
    await db.query('drop table if exists bare');
    await db.query('create table bare (like images)');
    await db.query('alter table bare add primary key (dataset_id, zarr_url), add unique (dataset_id, position)');
    await db.query('create index on bare using gin (tags)');
    const start = performance.now();
    await db.query(`copy bare from '${file}'`);
    copyTimes.push(performance.now() - start);
  }
  rmSync(file, { force: true });
  const bare = median(copyTimes);
  line(`import of ${IMPORT} images`, ms(importing));
  line('bare COPY of the same rows, same indexes', ms(bare));
  line('ratio', ratio(importing / bare), '(promised: at most 1.8)');
  const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
  line('largest memory of the server', `${peak.toFixed(0)} MB`, '(promised: under 600 MB)');
}
async function queries(call: Call, project: number, datasets: Map<number, { id: number }>): Promise<void> {
  const times = new Map<string, number>();
  const filters = {
    [`${MATCHES} matches`]: { attribute_filters: { batch: ['hit'] }, type_filters: { is_3D: true } },
    'one in ten': { attribute_filters: { tenth: [3] }, type_filters: { is_3D: true } },
  };
  for (const [name, body] of Object.entries(filters)) {
    for (const [size, { id }] of datasets) {
      const total = name === 'one in ten' ? size / 10 : MATCHES;
      for (const [where, page] of [
        ['first', 1],
        ['last', Math.ceil(total / 50)],
      ] as const) {
        const path = `/api/v2/project/${project}/dataset/${id}/images/query/?page=${page}&page_size=50`;
        const found = (await call.post(path, body)) as { total_count: number };
        if (found.total_count !== total) throw new Error(`expected ${total} images, found ${found.total_count}`);
        const spent = await time(() => call.post(path, body));
        times.set(`${name} ${size} ${where}`, spent);
        line(`query, ${name}, ${where} page, ${size} images`, ms(spent));
      }
    }
  }
  for (const where of ['first', 'last']) {
    const [small, large] = [
      times.get(`${MATCHES} matches 1000 ${where}`)!,
      times.get(`${MATCHES} matches 1000000 ${where}`)!,
    ];
    line(`ratio of a million to a thousand, ${where} page`, ratio(large / small), '(promised: at most 10)');
  }
}

async function edits(
  call: Call,
  project: number,
  empty: { id: number; zarr_dir: string },
  large: { id: number; zarr_dir: string },
): Promise<void> {
  const path = ({ id }: { id: number }) => `/api/v2/project/${project}/dataset/${id}/images/`;
  const attributes = (round: number) => ({ plate: 'plate1', well: round, acquisition: 1 });
  const measure = async (
    name: string,
    work: (dataset: { id: number; zarr_dir: string }) => (round: number) => Promise<unknown>,
  ) => {
    const [small, big] = [await time(work(empty)), await time(work(large))];
    line(`${name}, empty dataset`, ms(small));
    line(`${name}, a million images`, ms(big));
    line('ratio', ratio(big / small), '(promised: at most 2)');
  };
  await measure(
    'POST of an image',
    (dataset) => (round) =>
      call.post(path(dataset), {
        zarr_url: `${dataset.zarr_dir}/new${round}`,
        attributes: attributes(round),
        types: { is_3D: true },
      }),
  );
  await measure(
    'PATCH of an image',
    (dataset) => (round) =>
      call.patch(path(dataset), { zarr_url: `${dataset.zarr_dir}/new0`, attributes: attributes(round + 100) }),
  );
}

async function lists(call: Call, withImages: number, without: number): Promise<void> {
  const [small, big] = [
    await time(() => call.get(`/api/v2/project/${without}/dataset/`)),
    await time(() => call.get(`/api/v2/project/${withImages}/dataset/`)),
  ];
  line('dataset list, empty datasets', ms(small));
  line('dataset list with a million images', ms(big));
  line('ratio', ratio(big / small), '(promised: at most 2)');
}

async function measure({ serviceUrl, connection, pid }: Servers): Promise<void> {
  const call = caller(serviceUrl, await login(serviceUrl));
  const db = new pg.Client(connection);
  await db.connect();
  try {
    const project = await newProject(call, 'bench');
    const emptyProject = await newProject(call, 'empty');
    await importBeside(call, db, await newProject(call, 'imports'), pid);
    const datasets = new Map<number, { id: number; zarr_dir: string }>();
    for (const size of SIZES) {
      const dataset = await newDataset(call, project, `d${size}`);
      datasets.set(size, dataset);
      await load(db, dataset.id, size);
      await newDataset(call, emptyProject, `d${size}`);
    }
    await db.query('vacuum analyze');
    await lists(call, project, emptyProject);
    await queries(call, project, datasets);
    await edits(call, project, await newDataset(call, project, 'small'), datasets.get(1_000_000)!);
  } finally {
    await db.end();
  }
}

export const run = () => withServers(measure);
