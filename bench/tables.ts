/** What we promise about tables: a plate with a million objects as quickly as Python reads it, and memory that stays small. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import pg from 'pg';

import { readColumns } from '@service/contract';

import { type Call, caller, line, login, ratio, type Servers, withServers } from './support.ts';

const PROGRAM = join(import.meta.dirname, 'tables.py');
const PROMISED_MEMORY = 300;
/** `SMALL=1` tries the benchmark itself. */
const isSmall = process.env['SMALL'] !== undefined;
const IMAGES = isSmall ? 24 : 384;
const ROWS = isSmall ? 500 : 2605;
const COLUMNS_OF_PLATE = 24;

const seconds = (value: number) => `${(value / 1000).toFixed(2)} s`;

/** With ngio: the one that is given, or a new one from the package index. */
function findPython(folder: string): string {
  const given = process.env['BENCH_PYTHON'];
  if (given !== undefined) return given;
  execFileSync('python3', ['-m', 'venv', join(folder, 'env')]);
  const python = join(folder, 'env/bin/python');
  execFileSync(python, ['-m', 'pip', 'install', '-q', 'ngio'], { stdio: ['ignore', 'ignore', 'inherit'] });
  return python;
}

const wellOf = (at: number) =>
  [
    String.fromCharCode(65 + Math.floor(at / COLUMNS_OF_PLATE)),
    String((at % COLUMNS_OF_PLATE) + 1).padStart(2, '0'),
  ] as const;

async function addPlate(call: Call, folder: string, name: string): Promise<string> {
  const images = Array.from({ length: IMAGES }, (_, at) => {
    const [row, column] = wellOf(at);
    const zarr_url = join(folder, 'plate.zarr', row, column, '0');
    return { zarr_url, attributes: { plate: 'plate.zarr', well: `${row}${column}` }, types: {} };
  });
  const project = (await call.post('/api/v2/project/', { name })) as { id: number };
  const body = { name, zarr_dir: folder, images };
  const dataset = (await call.post(`/api/v2/project/${project.id}/dataset/import/`, body)) as { id: number };
  return `/api/v2/project/${project.id}/dataset/${dataset.id}/tables/nuclei/`;
}

const residentMebibytes = (pid: number) => {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
};

/** The process that reads tables, a child of the service. */
function readerOf(pid: number): number | undefined {
  const isReader = (name: string) => {
    try {
      return (
        readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]!.split(' ')[1] === String(pid) &&
        readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('tables/work/program.ts')
      );
    } catch {
      return false;
    }
  };
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .find(isReader);
  return found === undefined ? undefined : Number(found);
}

/** Not waited for in one piece: connections to the service would be closed unseen meanwhile. */
const runPython = promisify(execFile);
const QUIET = { env: { ...process.env, PYTHONWARNINGS: 'ignore' }, encoding: 'utf8' as const };

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const start = performance.now();
  const result = await work();
  return { ms: performance.now() - start, result };
}

async function measureKind(
  backend: string,
  folder: string,
  python: string,
  { serviceUrl, pid }: Servers,
  token: string,
) {
  const place = join(folder, backend);
  await runPython(python, [PROGRAM, 'write', place, backend, String(IMAGES), String(ROWS)], QUIET);
  const base = await addPlate(caller(serviceUrl, token), place, backend);
  const get = async (query: string) => {
    const response = await fetch(`${serviceUrl}${base}${query}`, { headers: { authorization: `Bearer ${token}` } });
    if (!response.ok) throw new Error(`${query}: ${response.status} ${await response.text()}`);
    return response.arrayBuffer();
  };
  // the process that reads has started before: that is once in a service's life
  await get('?page_size=1');
  await sleep(6000);
  let [highest, highestReader] = [0, 0];
  const watch = setInterval(() => {
    highest = Math.max(highest, residentMebibytes(pid));
    const reader = readerOf(pid);
    if (reader !== undefined) highestReader = Math.max(highestReader, residentMebibytes(reader));
  }, 50);
  const groups = await timed(() => get('groups/?column=feature_3'));
  const wells = (JSON.parse(Buffer.from(groups.result).toString()) as { groups: unknown[] }).groups.length;
  await sleep(6000);
  const columns = await timed(() => get('?format=columns&column=feature_3&column=feature_4'));
  const { header } = readColumns(columns.result);
  const again = await timed(() => get('?format=columns&column=feature_3&column=feature_4'));
  clearInterval(watch);
  const { stdout } = await runPython(python, [PROGRAM, 'read', place, String(IMAGES)], QUIET);
  const theirs = JSON.parse(stdout) as {
    medians: number;
    columns: number;
    rows: number;
  };
  if (wells !== IMAGES || header.rows !== theirs.rows) throw new Error(`${wells} wells, ${header.rows} rows`);
  console.log(`\n${backend}: ${header.rows} rows in ${IMAGES} images`);
  line('plate map: statistics of one feature by well', seconds(groups.ms));
  line('the same by ngio and pandas', seconds(theirs.medians * 1000));
  line('ratio', ratio(groups.ms / 1000 / theirs.medians), '(promised: at most 1)');
  line(
    'scatter: two features of all objects',
    seconds(columns.ms),
    `${(columns.result.byteLength / 1e6).toFixed(1)} MB`,
  );
  line('the same by ngio and pandas', seconds(theirs.columns * 1000));
  line('ratio', ratio(columns.ms / 1000 / theirs.columns), '(promised: at most 1)');
  line('scatter again', seconds(again.ms));
  line('memory of the service', `${highest.toFixed(0)} MiB`, `(promised: under ${PROMISED_MEMORY} MB)`);
  line('memory of the process that reads', `${highestReader.toFixed(0)} MiB`);
}

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'service-bench-tables-'));
  try {
    const python = findPython(folder);
    await withServers(async (servers) => {
      const token = await login(servers.serviceUrl);
      const db = new pg.Client(servers.connection);
      await db.connect();
      await db.query(`update users set project_dirs = array[$1]`, [folder]);
      await db.end();
      for (const backend of ['anndata', 'parquet']) await measureKind(backend, folder, python, servers, token);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
