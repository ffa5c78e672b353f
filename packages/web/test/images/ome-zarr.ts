/** OME-Zarr images on disk, and a server that gives their files as an image data service does. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

import * as zarr from 'zarrita';

const DEMO_TASKS = join(import.meta.dirname, '../../../demo-tasks');

const MAKE_PLATE = `
import json, sys
from demo_tasks.tasks.make_demo_plate_compute import make_demo_plate_compute
from demo_tasks.tasks.make_demo_plate_init import make_demo_plate_init

zarr_dir, name, rows, columns = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
channels = [
    {"label": "DAPI", "color": "4488FF", "stain": "nuclei", "brightness": 3000},
    {"label": "Tubulin", "color": "22DD66", "stain": "membrane", "brightness": 2000},
]
made = make_demo_plate_init(
    zarr_dir=zarr_dir, plate_name=name, layout={"rows": rows, "columns": columns},
    treatment={"kind": "none"}, seed=7, overwrite=False,
)
for item in made["parallelization_list"]:
    make_demo_plate_compute(
        zarr_url=item["zarr_url"], init_args=item["init_args"],
        image={"size": 64, "planes": 2, "voxel_size": [1.0, 0.65, 0.65], "levels": 2}, channels=channels,
        nuclei={"number": [4, 8], "radius": [5, 8]}, falloff=0.2, noise=10.0, compression="zlib",
    )
`;

/** A plate of OME-Zarr 0.4 as the tasks of the demo write it: `<folder>/<name>.zarr/A/01/0`, two channels, 64 pixels. */
export function makePlate(folder: string, name: string, rows: number, columns: number): void {
  const env = { ...process.env, PYTHONPATH: DEMO_TASKS, PYTHONDONTWRITEBYTECODE: '1' };
  execFileSync('python3', ['-c', MAKE_PLATE, folder, name, String(rows), String(columns)], { env, stdio: 'pipe' });
}

function write(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content instanceof Uint8Array ? content : JSON.stringify(content));
}

/** Chunks are packed as most images are: by Blosc. */
async function packed(pixels: Uint16Array): Promise<Uint8Array> {
  const Blosc = await zarr.registry.get('blosc')!();
  const codec = Blosc.fromConfig({ cname: 'lz4', clevel: 5, shuffle: 1, blocksize: 0, typesize: 2 }, {} as never) as {
    encode: (bytes: Uint8Array) => Promise<Uint8Array>;
  };
  return codec.encode(new Uint8Array(pixels.buffer));
}

const SIZE = 32;

/** A bright square in the dark. */
export function square(value: number, size = SIZE): Uint16Array {
  const pixels = new Uint16Array(size * size).fill(10);
  for (let y = 8; y < 24; y++) pixels.fill(value, y * size + 8, y * size + 24);
  return pixels;
}

const scale = (factor: number) => [{ type: 'scale', scale: [1, 0.5 * factor, 0.5 * factor] }];
const axes = [
  { name: 'c', type: 'channel' },
  { name: 'y', type: 'space', unit: 'micrometer' },
  { name: 'x', type: 'space', unit: 'micrometer' },
];

/** An image of OME-Zarr 0.5, Zarr 3: a channel for each plane, without words about contrast. */
export async function writeImage5(folder: string, planes: Uint16Array[]): Promise<void> {
  const multiscales = [{ axes, datasets: [{ path: '0', coordinateTransformations: scale(1) }] }];
  const omero = {
    channels: planes.map((_, at) => ({ label: `Stain ${at + 1}`, color: at === 0 ? 'FF0000' : '00FF00' })),
  };
  write(join(folder, 'zarr.json'), {
    zarr_format: 3,
    node_type: 'group',
    attributes: { ome: { version: '0.5', multiscales, omero } },
  });
  write(join(folder, '0/zarr.json'), {
    zarr_format: 3,
    node_type: 'array',
    shape: [planes.length, SIZE, SIZE],
    data_type: 'uint16',
    chunk_grid: { name: 'regular', configuration: { chunk_shape: [1, SIZE, SIZE] } },
    chunk_key_encoding: { name: 'default', configuration: { separator: '/' } },
    fill_value: 0,
    codecs: [
      { name: 'bytes', configuration: { endian: 'little' } },
      { name: 'blosc', configuration: { cname: 'lz4', clevel: 5, shuffle: 'shuffle', typesize: 2, blocksize: 0 } },
    ],
    attributes: {},
  });
  for (const [at, plane] of planes.entries()) write(join(folder, `0/c/${at}/0/0`), await packed(plane));
}

/** The same as OME-Zarr 0.4, Zarr 2, with a label image of one object. */
export async function writeImage4(folder: string, planes: Uint16Array[]): Promise<void> {
  const array = (shape: number[], compressor: unknown, dtype: string) => ({
    zarr_format: 2,
    shape,
    chunks: [1, SIZE, SIZE].slice(-shape.length),
    dtype,
    compressor,
    fill_value: 0,
    filters: null,
    order: 'C',
    dimension_separator: '/',
  });
  const blosc = { id: 'blosc', cname: 'lz4', clevel: 5, shuffle: 1, blocksize: 0 };
  write(join(folder, '.zgroup'), { zarr_format: 2 });
  write(join(folder, '.zattrs'), {
    multiscales: [{ version: '0.4', axes, datasets: [{ path: '0', coordinateTransformations: scale(1) }] }],
  });
  write(join(folder, '0/.zarray'), array([planes.length, SIZE, SIZE], blosc, '<u2'));
  for (const [at, plane] of planes.entries()) write(join(folder, `0/${at}/0/0`), await packed(plane));
  write(join(folder, 'labels/.zgroup'), { zarr_format: 2 });
  write(join(folder, 'labels/.zattrs'), { labels: ['nuclei'] });
  write(join(folder, 'labels/nuclei/.zgroup'), { zarr_format: 2 });
  write(join(folder, 'labels/nuclei/.zattrs'), {
    multiscales: [{ version: '0.4', axes: axes.slice(1), datasets: [{ path: '0' }] }],
  });
  write(join(folder, 'labels/nuclei/0/.zarray'), array([SIZE, SIZE], null, '<u2'));
  const labels = square(1).map((value) => (value === 1 ? 1 : 0));
  write(join(folder, 'labels/nuclei/0/0/0'), new Uint8Array(labels.buffer));
}

export interface DataService {
  url: string;
  /** Paths that were asked for. */
  asked: string[];
  close: () => void;
}

interface Manners {
  /** Whether it knows people by their session; one that is open to all lets nobody bring one. */
  sessions?: boolean;
  /** The folder that the files are said to be in, where others do not see them. */
  as?: string;
}

/** `bytes=10-19`, `bytes=10-` and `bytes=-20`: from where to where, as slices count. */
function rangeOf(range: string | undefined, length: number): [from: number, to: number] {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
  if (from === '') return [to === '' ? 0 : Math.max(0, length - Number(to)), length];
  return [Number(from), to === '' ? length : Number(to) + 1];
}

/** `<url>files<path>` is the file at a path below `root`. */
export async function serveFiles(root: string, { sessions = true, as = root }: Manners = {}): Promise<DataService> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url!, 'http://data').pathname).replace(/^\/data\/files/, '');
    const { origin } = request.headers;
    const allowed = sessions
      ? { 'access-control-allow-origin': origin ?? '*', 'access-control-allow-credentials': 'true' }
      : { 'access-control-allow-origin': '*' };
    asked.push(path);
    const file = path.startsWith(as) ? readFile(root + path.slice(as.length)) : Promise.reject(new Error('elsewhere'));
    file.then(
      (content) => {
        const part = content.subarray(...rangeOf(request.headers.range, content.length));
        const status = request.headers.range === undefined ? 200 : 206;
        response.writeHead(status, { ...allowed, 'content-length': part.length }).end(part);
      },
      () => response.writeHead(404, allowed).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/data/`, asked, close: () => server.close() };
}
