/** The viewer reads files: of both versions at once, whole and damaged. */
import { mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openImage, openLabels } from '../../src/lib/pixels/read/image.ts';
import { readLabelTile, readTile } from '../../src/lib/pixels/read/region.ts';
import { type DataService, serveFiles, square, writeImage4, writeImage5 } from '../images/ome-zarr.ts';

const folder = mkdtempSync(join(tmpdir(), 'service-reading-'));
let data: DataService;
const NAMES = Array.from({ length: 12 }, (_, at) => `image-${at}`);

beforeAll(async () => {
  for (const [at, name] of NAMES.entries()) {
    const write = at % 2 === 0 ? writeImage4 : writeImage5;
    await write(join(folder, name), [square(900 + at)]);
  }
  data = await serveFiles(folder);
});

afterAll(() => {
  data.close();
  rmSync(folder, { recursive: true, force: true });
});

const { signal } = new AbortController();
const addressOf = (name: string) => `${data.url}files${folder}/${name}`;
const FIRST = { level: 0, channel: 0, z: 0, t: 0, row: 0, column: 0 };
const MIDDLE = 16 * 32 + 16;

describe('images', () => {
  it('of Zarr 2 and Zarr 3 are opened side by side, with their own labels', async () => {
    const opened = await Promise.all(NAMES.map((name) => openImage(addressOf(name), signal)));
    const tiles = await Promise.all(opened.map(({ levels }) => readTile(levels[0]!, FIRST, signal)));
    expect(tiles.map(({ pixels }) => pixels[MIDDLE])).toEqual(NAMES.map((_, at) => 900 + at));
    expect(opened.map(({ facts }) => facts.labels)).toEqual(NAMES.map((_, at) => (at % 2 === 0 ? ['nuclei'] : [])));
    const labels = await openLabels(addressOf('image-0'), 'nuclei', signal);
    expect((await readLabelTile(labels.levels[0]!, FIRST, signal)).labels[MIDDLE]).toBe(1);
  });

  it('with a chunk that is half written say which, and give nothing for it', async () => {
    for (const [name, chunk, write] of [
      ['half-4', '0/0/0/0', writeImage4],
      ['half-5', '0/c/0/0/0', writeImage5],
    ] as const) {
      await write(join(folder, name), [square(900)]);
      truncateSync(join(folder, name, chunk), 20);
      const { levels } = await openImage(addressOf(name), signal);
      await expect(readTile(levels[0]!, FIRST, signal)).rejects.toMatchObject({
        kind: 'unreadable',
        message: 'Chunk 0/0/0 of level 0 can’t be read: it is damaged, or only half written',
      });
    }
  });

  it('that are not there are missing, and not unreadable', async () => {
    await expect(openImage(addressOf('none'), signal)).rejects.toMatchObject({ kind: 'missing' });
  });
});
