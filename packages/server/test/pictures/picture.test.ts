/** Pictures of images and plates: who gets them, when they are made again, and what bad images do. */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync, gzipSync, inflateSync } from 'node:zlib';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { arrayOf, multiscales, put, writeImage } from '../support/ome-zarr.ts';
import { addDataset } from '../support/people.ts';
import { addPerson, addProfile, addProject, type Person, shareProject } from '../support/plates.ts';
import { type Answer, clientOf, startService, type TestService } from '../support/server.ts';

const root = mkdtempSync(join(tmpdir(), 'service-pictures-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const place = (...parts: string[]) => join(root, 'anna', ...parts);

let service: TestService;
let profile: number;
let anna: Person;
let project: number;
let dataset: number;
let base: string;

beforeAll(async () => {
  service = await startService({ settings: { SERVICE_DATA_DIR: join(root, 'data'), SERVICE_PICTURES_MEMORY: '280M' } });
  profile = await addProfile(service);
  mkdirSync(place(), { recursive: true });
  anna = await addPerson(service, profile, { project_dirs: [place()] });
  project = await addProject(service, anna, 'p');
  dataset = await addDataset(service, project, { zarr_dir: place() });
  base = `/api/v2/project/${project}/dataset/${dataset}`;
});

/** Adds an image to the dataset, whatever is on disk. */
async function list(path: string, attributes: Record<string, string | number> = {}, origin: string | null = null) {
  await service.database.db
    .insertInto('images')
    .values({
      dataset_id: dataset,
      position: ++listed,
      zarr_url: path,
      origin,
      attributes: JSON.stringify(attributes),
      types: '{}',
    })
    .execute();
  return path;
}
let listed = 0;

const pictureOf = (zarr_url: string, query: Record<string, string | number> = {}, who = anna.client): Promise<Answer> =>
  who.get(`${base}/picture/`, { query: { zarr_url, ...query } });

/** The shades of a grey picture, or the bytes of one in colour. */
async function bytesOf(path: string): Promise<{ width: number; height: number; bytes: number[]; headers: Headers }> {
  const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${await token()}` } });
  const file = Buffer.from(await response.arrayBuffer());
  expect([response.status, file.subarray(1, 4).toString()]).toEqual([200, 'PNG']);
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  const each = file[25] === 0 ? 1 : 4;
  const length = file.readUInt32BE(33);
  const lines = inflateSync(file.subarray(41, 41 + length));
  const bytes: number[] = [];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width * each; x++) {
      const before = x < each ? 0 : bytes[bytes.length - each]!;
      bytes.push((lines[y * (width * each + 1) + 1 + x]! + before) & 255);
    }
  }
  return { width, height, bytes, headers: response.headers };
}
let known: string | undefined;
const token = async () => (known ??= await service.login(anna.email, 'some-password'));

const address = (what: string, query: Record<string, string | number>) =>
  `${base}/${what}/?${new URLSearchParams(Object.entries(query).map(([key, value]): [string, string] => [key, String(value)])).toString()}`;

describe('people', () => {
  it('get pictures of projects that they may read, and nobody else does', async () => {
    const image = await list(writeImage(place('shared')));
    const reader = await addPerson(service, profile, { project_dirs: [join(root, 'reader')] });
    const guest = await addPerson(service, profile, { project_dirs: [join(root, 'guest')], is_guest: true });
    const invited = await addPerson(service, profile, { project_dirs: [join(root, 'invited')] });
    const stranger = await addPerson(service, profile, { project_dirs: [join(root, 'stranger')] });
    await shareProject(service, project, reader, 'r');
    await shareProject(service, project, guest, 'r');
    await shareProject(service, project, invited, 'rwx', false);
    const status = async (who: Person) => (await pictureOf(image, {}, who.client)).status;
    expect(await Promise.all([anna, reader, guest, invited, stranger].map(status))).toEqual([200, 200, 200, 403, 403]);
    expect((await pictureOf(image, {}, service.anyone)).status).toBe(401);
    expect((await service.anyone.get(`${base}/plate-picture/`, { query: { plate: 'x' } })).status).toBe(401);
  });

  it('get pictures of images of the dataset only', async () => {
    writeImage(place('unlisted'));
    expect((await pictureOf(place('unlisted'))).status).toBe(404);
    expect((await pictureOf(place('shared'), {}, clientOf(service.url))).status).toBe(401);
    expect((await anna.client.get(`/api/v2/project/${project}/dataset/9999/picture/?zarr_url=/x`)).status).toBe(404);
  });

  it('get nothing of folders that they cannot read, whatever the list says', async () => {
    const elsewhere = await list(writeImage(join(root, 'elsewhere/image')));
    expect((await pictureOf(elsewhere)).status).toBe(403);
    const inStore = await list('s3://bucket/image');
    expect((await pictureOf(inStore)).status).toBe(422);
  });

  it('do not get what another person may see through a link', async () => {
    const boss = await addPerson(service, profile, { project_dirs: [root] });
    await shareProject(service, project, boss, 'r');
    writeImage(join(root, 'elsewhere/linked'));
    symlinkSync(join(root, 'elsewhere/linked'), place('link'));
    const image = await list(place('link'));
    expect((await pictureOf(image, {}, boss.client)).status).toBe(200);
    const refused = await pictureOf(image);
    expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining('outside the folders')]);
  });
});

describe('a picture', () => {
  it('is grey for one channel, between black and white as asked, and says its range', async () => {
    const image = await list(writeImage(place('grey'), { channels: 2, size: 32 }));
    const { width, height, bytes, headers } = await bytesOf(
      address('picture', { zarr_url: image, channel: 1, low: 100, high: 162 }),
    );
    expect([width, height, bytes.length]).toEqual([32, 32, 1024]);
    expect(bytes[0]).toBe(0);
    expect(bytes[1]).toBe(Math.round(255 / 62));
    expect(bytes.at(-1)).toBe(255);
    expect([headers.get('x-picture-low'), headers.get('x-picture-high')]).toEqual(['100', '162']);
    const whole = await bytesOf(address('picture', { zarr_url: image, channel: 1 }));
    expect(whole.headers.get('x-picture-range')).toBe('100 162');
    expect(whole.bytes).toEqual(bytes);
  });

  it('is smaller when it should be, by the mean of what a pixel covers, and never larger', async () => {
    const image = await list(writeImage(place('size'), { size: 64, value: (_, y, x) => (x % 2) * 100 + (y % 2) * 50 }));
    const small = await bytesOf(address('picture', { zarr_url: image, channel: 0, size: 32, low: 0, high: 255 }));
    expect([small.width, small.height, new Set(small.bytes)]).toEqual([32, 32, new Set([75])]);
    const large = await bytesOf(address('picture', { zarr_url: image, channel: 0, size: 1024 }));
    expect([large.width, large.height]).toEqual([64, 64]);
  });

  it('can be kept by the client until the image is written again', async () => {
    const image = await list(writeImage(place('again'), { value: () => 10 }));
    const query = { channel: 0, low: 0, high: 255 };
    const first = await pictureOf(image, query);
    const etag = first.headers.get('etag')!;
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    const ask = () =>
      anna.client.get(`${base}/picture/`, { query: { zarr_url: image, ...query }, headers: { 'if-none-match': etag } });
    const same = await ask();
    expect([same.status, same.text, same.headers.get('etag')]).toEqual([304, '', etag]);
    // metadata stays: only pixels change
    writeFileSync(join(image, '0/0/0/0'), Buffer.from(new Uint16Array(1024).fill(20).buffer));
    await expect.poll(async () => (await ask()).status, { timeout: 10_000 }).toBe(200);
    const { bytes } = await bytesOf(address('picture', { zarr_url: image, ...query }));
    expect(new Set(bytes)).toEqual(new Set([20]));
    // and a chunk that goes becomes the fill value
    rmSync(join(image, '0/0/0/0'));
    const now = async () => new Set((await bytesOf(address('picture', { zarr_url: image, ...query }))).bytes);
    await expect.poll(now, { timeout: 10_000 }).toEqual(new Set([0]));
  });

  it('refuses sizes, planes and channels that there are not', async () => {
    const image = place('grey');
    const wrong: Record<string, string | number>[] = [
      { size: 31 },
      { size: 1025 },
      { z: 'min' },
      { z: -1 },
      { channel: -1 },
      { low: 'x' },
      { t: -1 },
    ];
    for (const query of wrong) {
      const { status, body } = await pictureOf(image, query);
      expect([query, status, Array.isArray(body.detail)]).toEqual([query, 422, true]);
    }
    for (const [query, word] of [
      [{ channel: 2 }, '2 channels'],
      [{ channel: 0, labels: 'nothing' }, 'no OME-Zarr image'],
      [{ channel: 0, labels: '../0' }, 'no name of a label image'],
    ] as const) {
      const { status, body } = await pictureOf(image, query);
      expect([status, body.detail]).toEqual([422, expect.stringContaining(word)]);
    }
  });
});

describe('an object', () => {
  const SIZE = 128;
  /** Squares of eight pixels: one in the middle, one in a corner, one of a single pixel. */
  const labelAt = (y: number, x: number) => {
    const isIn = (at: number, from: number) => at >= from && at < from + 8;
    if (isIn(y, 60) && isIn(x, 40)) return 7;
    if (isIn(y, 0) && isIn(x, 120)) return 70_000;
    return y === 100 && x === 100 ? 3 : 0;
  };
  let image: string;
  const objectOf = (object: number, more: Record<string, string | number> = {}) =>
    bytesOf(address('picture', { zarr_url: image, labels: 'nuclei', object, ...more }));

  beforeAll(async () => {
    const value = (_: number, y: number, x: number) => (labelAt(y, x) > 0 ? 200 : 10);
    image = await list(writeImage(place('objects'), { size: SIZE, value }));
    put(join(image, 'labels/.zattrs'), { labels: ['nuclei'] });
    put(join(image, 'labels/nuclei/.zattrs'), multiscales('yx'));
    const numbers = Uint32Array.from({ length: SIZE * SIZE }, (_, at) => labelAt(Math.floor(at / SIZE), at % SIZE));
    put(join(image, 'labels/nuclei/0/.zarray'), arrayOf([SIZE, SIZE], [SIZE, SIZE], { dtype: '<u4' }));
    put(join(image, 'labels/nuclei/0/0/0'), Buffer.from(numbers.buffer));
  });

  it('is drawn with what is around it, says where that lies, and is outlined', async () => {
    const { width, height, bytes, headers } = await objectOf(7, { channel: 0, low: 0, high: 255 });
    expect(headers.get('x-picture-region')).toBe('36 56 16 16');
    expect(headers.get('x-picture-object')).toBe('40 60 8 8');
    expect([width, height]).toEqual([16, 16]);
    // from the fifth pixel on it is the object, whose border is white
    expect([bytes[4 * 16 + 3], bytes[4 * 16 + 4], bytes[5 * 16 + 5]]).toEqual([10, 255, 200]);
  });

  it('stays inside the image, and what is seen of others is not outlined', async () => {
    const { bytes, headers } = await objectOf(70_000, { layer: 'labels' });
    expect(headers.get('x-picture-region')).toBe('112 0 16 16');
    const numbers = new Set(
      Array.from({ length: 256 }, (_, at) => bytes[4 * at]! + 256 * bytes[4 * at + 1]! + 65_536 * bytes[4 * at + 2]!),
    );
    expect(numbers).toEqual(new Set([0, 70_000]));
  });

  it('is drawn with as much around it as asked for, and is never cut off', async () => {
    expect((await objectOf(7, { square: 32 })).headers.get('x-picture-region')).toBe('28 48 32 32');
    expect((await objectOf(7, { square: 500 })).headers.get('x-picture-region')).toBe('0 0 128 128');
    const large = await list(writeImage(place('one-object'), { size: 64, value: () => 10 }));
    put(join(large, 'labels/nuclei/.zattrs'), multiscales('yx'));
    put(join(large, 'labels/nuclei/0/.zarray'), arrayOf([64, 64], [64, 64], { dtype: '<u4' }));
    const numbers = Uint32Array.from({ length: 64 * 64 }, (_, at) => (at % 64 >= 10 && at % 64 < 50 ? 1 : 0));
    put(join(large, 'labels/nuclei/0/0/0'), Buffer.from(numbers.buffer));
    const found = await bytesOf(address('picture', { zarr_url: large, labels: 'nuclei', object: 1, square: 16 }));
    expect(found.headers.get('x-picture-region')).toBe('0 0 64 64');
  });

  it('has a square like its neighbours, however small it is', async () => {
    expect((await objectOf(3)).headers.get('x-picture-region')).toBe('93 93 16 16');
  });

  it('is found where the small level has lost it', async () => {
    const [side, step] = [2048, 2];
    const large = await list(writeImage(place('large-objects'), { size: side, value: () => 10 }));
    put(join(large, 'labels/nuclei/.zattrs'), multiscales('yx', ['0', '1']));
    const full = new Uint32Array(side * side);
    full[1001 * side + 501] = 5;
    for (const [level, numbers] of [full, new Uint32Array((side / step) ** 2)].entries()) {
      const width = Math.sqrt(numbers.length);
      put(join(large, `labels/nuclei/${level}/.zarray`), arrayOf([width, width], [width, width], { dtype: '<u4' }));
      put(join(large, `labels/nuclei/${level}/0/0`), Buffer.from(numbers.buffer));
    }
    const found = await bytesOf(address('picture', { zarr_url: large, labels: 'nuclei', object: 5 }));
    expect(found.headers.get('x-picture-region')).toBe('494 994 16 16');
  });

  it('is refused where there is none, or no label image is named', async () => {
    for (const [query, word] of [
      [{ labels: 'nuclei', object: 99 }, 'has no object 99'],
      [{ object: 7 }, 'Name the label image'],
      [{ labels: 'cells', object: 7 }, 'no OME-Zarr image'],
      [{ labels: '..', object: 7 }, 'no name of a label image'],
    ] as const) {
      const { status, body } = await pictureOf(image, query);
      expect([status, body.detail]).toEqual([422, expect.stringContaining(word)]);
    }
    expect((await pictureOf(image, { labels: 'nuclei', object: 7, square: 4 })).status).toBe(422);
    for (const object of [0, -1, 1.5, 'a']) {
      expect((await pictureOf(image, { labels: 'nuclei', object })).status).toBe(422);
    }
  });
});

describe('a plate', () => {
  const plate = (what: string, query: Record<string, string | number>) => address(what, { plate: 'p.zarr', ...query });

  beforeAll(async () => {
    put(place('p.zarr/.zattrs'), {
      plate: { rows: [{ name: 'A' }, { name: 'B' }], columns: [{ name: '1' }, { name: '2' }, { name: '3' }] },
    });
    const well = (name: string, value: number) =>
      writeImage(place('p.zarr', name, '0'), { size: 32, value: () => value });
    const labelled = await list(well('A/1', 50), { plate: 'p.zarr', well: 'A1' });
    put(join(labelled, 'labels/.zattrs'), { labels: ['nuclei'] });
    put(join(labelled, 'labels/nuclei/.zattrs'), multiscales('yx'));
    put(join(labelled, 'labels/nuclei/0/.zarray'), arrayOf([32, 32], [32, 32], { dtype: '<u4' }));
    const inside = (at: number) => at >= 8 && at < 24;
    const numbers = Uint32Array.from({ length: 32 * 32 }, (_, at) =>
      inside(at % 32) && inside(Math.floor(at / 32)) ? 70_000 : 0,
    );
    put(join(labelled, 'labels/nuclei/0/0/0'), Buffer.from(numbers.buffer));
    await list(well('A/3', 100), { plate: 'p.zarr', well: 'A3' });
    await list(well('B/2', 200), { plate: 'p.zarr', well: 'B2' });
    await list(place('p.zarr/B/3/0'), { plate: 'p.zarr', well: 'B3' });
    const damaged = await list(writeImage(place('p.zarr/B/1/0'), { size: 32 }), { plate: 'p.zarr', well: 'B1' });
    writeFileSync(join(damaged, '0/0/0/0'), 'short');
  });

  it('is one picture with every well at its place; bad wells are named and hide nothing', async () => {
    const { width, height, bytes, headers } = await bytesOf(
      plate('plate-picture', { channel: 0, size: 96, low: 0, high: 255 }),
    );
    expect([width, height]).toEqual([96, 64]);
    const at = (row: number, column: number) => bytes[(row * 32 + 16) * 96 + column * 32 + 16];
    expect([at(0, 0), at(0, 1), at(0, 2), at(1, 0), at(1, 1), at(1, 2)]).toEqual([50, 0, 100, 0, 200, 0]);
    expect(headers.get('x-picture-bad-wells')!.split(',').sort()).toEqual(['B1', 'B3']);
    expect(headers.get('x-picture-cell-size')).toBe('32');
  });

  it('is told about: wells, fields, missing ones, channels and levels', async () => {
    const { status, body } = await anna.client.get(plate('plate-picture/info', {}));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      rows: ['A', 'B'],
      columns: ['1', '2', '3'],
      tile_size: 512,
      fields_placed_by: 'position',
    });
    const states = Object.fromEntries(
      body.wells.map((well: { name: string; state: string }) => [well.name, well.state]),
    );
    expect(states).toEqual({ A1: 'ready', A3: 'ready', B1: 'ready', B2: 'ready', B3: 'missing' });
    expect(body.channels).toEqual([expect.objectContaining({ limits_from: 'pixels', low: 50, high: 200 })]);
    const [kept] = await service.database.db.selectFrom('plate_contrasts').selectAll().execute();
    expect(kept).toMatchObject({ dataset_id: dataset, plate: 'p.zarr', limits: [[50, 200]], num_wells: 3 });
  });

  it('has tiles that fit together, in the contrast of the plate', async () => {
    const tile = await bytesOf(plate('plate-picture', { channel: 0, level: 0 }));
    expect([tile.width, tile.height]).toEqual([96, 64]);
    expect([tile.headers.get('x-picture-low'), tile.headers.get('x-picture-high')]).toEqual(['50', '200']);
    expect((await anna.client.get(plate('plate-picture', { level: 9 }))).status).toBe(422);
    expect((await anna.client.get(plate('plate-picture', { level: 0, row: 1 }))).status).toBe(422);
  });

  it('is drawn well by well too, in the contrast of the plate', async () => {
    const { width, height, bytes, headers } = await bytesOf(
      plate('plate-picture', { channel: 0, well: 'A3', size: 64 }),
    );
    expect([width, height, bytes[20 * 64 + 20]]).toEqual([64, 64, Math.round((50 / 150) * 255)]);
    expect([headers.get('x-picture-low'), headers.get('x-picture-high')]).toEqual(['50', '200']);
    const { status, text } = await anna.client.get(plate('plate-picture', { well: 'C7' }));
    expect([status, text]).toEqual([422, expect.stringContaining('well C7')]);
  });

  it('shows the objects of a label image: as outlines, or by their numbers', async () => {
    const { body } = await anna.client.get(plate('plate-picture/info', {}));
    expect(body.labels).toEqual(['nuclei']);
    const numbers = await bytesOf(plate('plate-picture', { labels: 'nuclei', layer: 'labels', size: 96 }));
    const pixel = (row: number, column: number, x: number, y: number, of = numbers.bytes) =>
      of.slice(((row * 32 + y) * 96 + column * 32 + x) * 4, ((row * 32 + y) * 96 + column * 32 + x) * 4 + 4);
    // 70 000 is 112 + 256 × 17 + 65 536
    expect(pixel(0, 0, 16, 16)).toEqual([112, 17, 1, 255]);
    expect([pixel(0, 0, 2, 2), pixel(0, 2, 16, 16), pixel(1, 1, 16, 16)]).toEqual(Array(3).fill([0, 0, 0, 0]));
    const drawn = await bytesOf(plate('plate-picture', { labels: 'nuclei', size: 96 }));
    expect(pixel(0, 0, 8, 16, drawn.bytes)).toEqual([0xe6, 0xeb, 0xee, 255]);
    expect(pixel(0, 0, 16, 16, drawn.bytes)).not.toEqual([0xe6, 0xeb, 0xee, 255]);
    const tile = await bytesOf(plate('plate-picture', { labels: 'nuclei', layer: 'labels', level: 0 }));
    expect(tile.bytes).toEqual(numbers.bytes);
  });

  it('has no labels by a name that leads elsewhere, and none without a name', async () => {
    for (const labels of ['..', '.', '../../A/3/0', 'a/b']) {
      const { status, text } = await anna.client.get(plate('plate-picture', { labels, layer: 'labels' }));
      expect([status, text]).toEqual([422, expect.stringContaining('no name of a label image')]);
    }
    expect((await anna.client.get(plate('plate-picture', { layer: 'labels' }))).status).toBe(422);
    const none = await bytesOf(plate('plate-picture', { labels: 'cells', layer: 'labels', size: 96 }));
    expect(none.bytes.every((byte) => byte === 0)).toBe(true);
  });

  it('is see-through in colour where there is nothing', async () => {
    const { bytes } = await bytesOf(plate('plate-picture', { size: 96 }));
    const cover = (row: number, column: number) => bytes[((row * 32 + 16) * 96 + column * 32 + 16) * 4 + 3];
    expect([cover(0, 0), cover(0, 1)]).toEqual([255, 0]);
  });

  it('shows what tasks made last, or what they made it from', async () => {
    const origin = place('p.zarr/A/1/0');
    await list(
      writeImage(place('p.zarr/A/1/0_corrected'), { size: 32, value: () => 77 }),
      { plate: 'p.zarr', well: 'A1' },
      origin,
    );
    const first = async (images: string) =>
      (await bytesOf(plate('plate-picture', { channel: 0, size: 96, low: 0, high: 255, images }))).bytes[0];
    await expect.poll(() => first('newest'), { timeout: 10_000 }).toBe(77);
    expect(await first('original')).toBe(50);
  });

  it('is refused where no image belongs to it, or none can be read', async () => {
    expect((await anna.client.get(address('plate-picture', { plate: 'none.zarr' }))).status).toBe(422);
    await list(place('gone.zarr/A/1/0'), { plate: 'gone.zarr', well: 'A1' });
    const { status, body } = await anna.client.get(address('plate-picture', { plate: 'gone.zarr', channel: 0 }));
    expect([status, body.detail]).toEqual([422, expect.stringContaining('gone.zarr/A/1/0')]);
  });
});

/** Images that lie, and what is said about them. */
const HOSTILE: [name: string, make: (path: string) => void, word: string][] = [
  ['nothing', () => undefined, 'There is no OME-Zarr image'],
  ['broken metadata', (path) => put(join(path, '.zattrs'), '{"multiscales": ['), '.zattrs is damaged'],
  ['metadata that is a list', (path) => put(join(path, '.zattrs'), '[1]'), 'no OME-Zarr image'],
  [
    'metadata of 1 GB',
    (path) => (put(join(path, '.zattrs'), ''), truncateSync(join(path, '.zattrs'), 2 ** 30)),
    '.zattrs is too large',
  ],
  ['metadata of endless depth', (path) => put(join(path, '.zattrs'), '['.repeat(2 ** 20)), '.zattrs is damaged'],
  [
    'metadata that is a pipe',
    (path) => (mkdirSync(path, { recursive: true }), execFileSync('mkfifo', [join(path, '.zattrs')])),
    'neither a file',
  ],
  ['metadata that is a folder', (path) => mkdirSync(join(path, '.zattrs'), { recursive: true }), 'is a folder'],
  [
    'metadata that leads out',
    (path) => (mkdirSync(path, { recursive: true }), symlinkSync('/etc/passwd', join(path, '.zattrs'))),
    'outside the folders',
  ],
  [
    'metadata in a circle',
    (path) => (mkdirSync(path, { recursive: true }), symlinkSync('.zattrs', join(path, '.zattrs'))),
    'outside the folders',
  ],
  ['levels elsewhere', (path) => put(join(path, '.zattrs'), multiscales('cyx', ['..%2f..%2f..%2fetc'])), 'is missing'],
  ['a level that is missing', (path) => put(join(path, '.zattrs'), multiscales('cyx')), '/0 is missing'],
  ['odd axes', (path) => put(join(path, '.zattrs'), multiscales('wyx')), 'has the axes w, y, x'],
  ['axes twice', (path) => put(join(path, '.zattrs'), multiscales('ccyx')), 'has the axes'],
  [
    'a thousand levels',
    (path) => put(join(path, '.zattrs'), multiscales('cyx', Array(1000).fill('0') as string[])),
    '1000 levels',
  ],
  ['10^6 x 10^6 pixels', (path) => withArray(path, arrayOf([1, 1e6, 1e6], [1, 1000, 1000])), 'no smaller level'],
  ['a chunk of 10 GB', (path) => withArray(path, arrayOf([1, 100, 100], [1, 1e5, 5e4])), 'chunks that are too large'],
  ['a chunk of every number', (path) => withArray(path, arrayOf([1, 100, 100], [1, 1e300, 1])), 'damaged'],
  ['sizes below nothing', (path) => withArray(path, arrayOf([1, -5, 100], [1, 10, 10])), 'damaged'],
  ['sizes that are texts', (path) => withArray(path, { ...arrayOf([1], [1]), shape: ['a', {}, null] }), 'damaged'],
  ['no sizes', (path) => withArray(path, { zarr_format: 2 }), 'damaged'],
  ['four million chunks', (path) => withArray(path, arrayOf([1, 2048, 2048], [1, 1, 1])), 'too many chunks'],
  ['fewer axes than named', (path) => withArray(path, arrayOf([10, 10], [10, 10])), 'has 2 axes'],
  [
    'an unknown codec',
    (path) => (withArray(path, arrayOf([1, 8, 8], [1, 8, 8], { compressor: { id: 'jpegxl' } })), chunk(path, 'x')),
    'compressed with numcodecs.jpegxl',
  ],
  ['texts as pixels', (path) => withArray(path, arrayOf([1, 8, 8], [1, 8, 8], { dtype: '<U4' })), 'no kind of pixel'],
  [
    'a chunk that is too short',
    (path) => (withArray(path, arrayOf([1, 8, 8], [1, 8, 8])), chunk(path, 'short!')),
    'holds 3 values',
  ],
  [
    'a chunk that is too long',
    (path) => (withArray(path, arrayOf([1, 8, 8], [1, 8, 8])), chunk(path, Buffer.alloc(4096))),
    'holds 2048 values',
  ],
  [
    'a chunk that is no gzip',
    (path) => (withArray(path, arrayOf([1, 8, 8], [1, 8, 8], { compressor: { id: 'gzip' } })), chunk(path, 'nothing')),
    'cannot be unpacked',
  ],
  [
    'a gzip bomb',
    (path) => (
      withArray(path, arrayOf([1, 8, 8], [1, 8, 8], { compressor: { id: 'gzip' } })),
      chunk(path, gzipSync(Buffer.alloc(200 * 2 ** 20)))
    ),
    'unpacks to more',
  ],
  [
    'a zlib bomb',
    (path) => (
      withArray(path, arrayOf([1, 8, 8], [1, 8, 8], { compressor: { id: 'zlib' } })),
      chunk(path, deflateSync(Buffer.alloc(200 * 2 ** 20)))
    ),
    'unpacks to more',
  ],
  [
    'a blosc bomb',
    (path) => (
      withArray(path, arrayOf([1, 8, 8], [1, 8, 8], { compressor: { id: 'blosc' } })),
      chunk(path, bloscHeader(2 ** 31 - 1))
    ),
    'unpacks to more',
  ],
  [
    'half a blosc header',
    (path) => (withArray(path, arrayOf([1, 8, 8], [1, 8, 8], { compressor: { id: 'blosc' } })), chunk(path, 'x')),
    'cut off',
  ],
  [
    'a blosc chunk of noise',
    (path) => (
      withArray(path, arrayOf([1, 8, 8], [1, 8, 8], { compressor: { id: 'blosc' } })),
      chunk(path, bloscHeader(128))
    ),
    'damaged',
  ],
  [
    'a chunk that is a device',
    (path) => (
      withArray(path, arrayOf([1, 8, 8], [1, 8, 8])),
      mkdirSync(join(path, '0/0/0'), { recursive: true }),
      symlinkSync('/dev/zero', join(path, '0/0/0/0'))
    ),
    'outside the folders',
  ],
  [
    'a chunk file of 1 TB',
    (path) => (
      withArray(path, arrayOf([1, 8, 8], [1, 8, 8])),
      chunk(path, ''),
      truncateSync(join(path, '0/0/0/0'), 2 ** 40)
    ),
    'too large',
  ],
];

function withArray(path: string, array: Record<string, unknown>): void {
  put(join(path, '.zattrs'), multiscales('cyx'));
  put(join(path, '0/.zarray'), array);
}
const chunk = (path: string, content: string | Buffer) => put(join(path, '0/0/0/0'), content);
function bloscHeader(size: number): Buffer {
  const bytes = Buffer.alloc(64, 7);
  bytes.set([2, 1, 0x21, 2]);
  bytes.writeUInt32LE(size, 4);
  bytes.writeUInt32LE(64, 8);
  bytes.writeUInt32LE(64, 12);
  return bytes;
}

describe('bad images', () => {
  it.each(HOSTILE)('with %s are refused with the file and the reason', async (name, make, word) => {
    const path = place('hostile', name.replace(/\W+/g, '-'));
    make(path);
    await list(path);
    const { status, body } = await pictureOf(path, { channel: 0 });
    expect([status, body?.detail]).toEqual([422, expect.stringContaining(word)]);
    expect(body.detail).toContain(path);
  });

  it('do not end the process that draws, nor make it large', async () => {
    expect(service.log.filter(({ name, level }) => name === 'pictures' && level === 'warning')).toEqual([]);
  });

  it('of a million wells are refused as a plate', async () => {
    const names = (count: number) => Array.from({ length: count }, (_, at) => ({ name: String(at) }));
    put(place('million.zarr/.zattrs'), { plate: { rows: names(1000), columns: names(1000) } });
    await list(writeImage(place('million.zarr/A/1/0')), { plate: 'million.zarr', well: 'A1' });
    const { status, body } = await anna.client.get(address('plate-picture', { plate: 'million.zarr', channel: 0 }));
    expect([status, body.detail]).toEqual([422, expect.stringContaining('1001 rows')]);
  });

  it('that need too much memory are refused while others get their pictures', async () => {
    const hungry = place('hungry');
    put(join(hungry, '.zattrs'), multiscales('cyx'));
    put(join(hungry, '0/.zarray'), arrayOf([2, 6000, 6000], [1, 6000, 6000], { compressor: { id: 'gzip' } }));
    const packed = gzipSync(Buffer.alloc(72_000_000), { level: 1 });
    for (let channel = 0; channel < 2; channel++) put(join(hungry, `0/${channel}/0/0`), packed);
    await list(hungry);
    const many = Array.from({ length: 2 }, (_, channel) => pictureOf(hungry, { channel, size: 1024 }));
    const fine = await Promise.all(
      Array.from({ length: 10 }, (_, at) => pictureOf(place('grey'), { channel: 0, size: 40 + at })),
    );
    expect(new Set(fine.map(({ status }) => status))).toEqual(new Set([200]));
    for (const { status, body } of await Promise.all(many)) {
      expect([status, body.detail]).toEqual([422, expect.stringContaining('more memory')]);
    }
    expect((await pictureOf(place('grey'), { channel: 0, size: 99 })).status).toBe(200);
  }, 90_000);
});

describe('many at once', () => {
  it('are drawn once, and the line forgets who left', async () => {
    const image = await list(writeImage(place('many'), { size: 512 }));
    const same = await Promise.all(Array.from({ length: 50 }, () => pictureOf(image, { channel: 0, size: 64 })));
    expect(new Set(same.map(({ status, headers }) => `${status} ${headers.get('etag')}`)).size).toBe(1);
    const left = Array.from({ length: 100 }, async (_, at) => {
      const signal = AbortSignal.timeout(20 + at);
      const query = new URLSearchParams({ zarr_url: image, size: String(100 + at), channel: '0' });
      await fetch(`${service.url}${base}/picture/?${query.toString()}`, {
        headers: { authorization: `Bearer ${await token()}` },
        signal,
      }).catch(() => undefined);
    });
    await Promise.all(left);
    expect((await pictureOf(image, { channel: 0, size: 333 })).status).toBe(200);
  });

  it('are kept on disk within bounds', async () => {
    const small = await startService({
      settings: { SERVICE_DATA_DIR: join(root, 'small'), SERVICE_PICTURES_SIZE: '200K' },
    });
    const person = await addPerson(small, await addProfile(small), { project_dirs: [place()] });
    const one = await addProject(small, person, 'p');
    const set = await addDataset(small, one, { zarr_dir: place() });
    const noise = writeImage(place('noise'), { size: 128, value: () => Math.floor(Math.random() * 60_000) });
    await person.client.post(`/api/v2/project/${one}/dataset/${set}/images/`, { zarr_url: noise });
    for (let low = 0; low < 30; low++) {
      const query = { zarr_url: noise, channel: 0, size: 128, low };
      expect((await person.client.get(`/api/v2/project/${one}/dataset/${set}/picture/`, { query })).status).toBe(200);
    }
    const names = readdirSync(join(root, 'small/pictures'), { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile());
    const bytes = files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
    expect(files.length).toBeGreaterThan(2);
    expect(bytes).toBeLessThan(200 * 1024);
  });
});
