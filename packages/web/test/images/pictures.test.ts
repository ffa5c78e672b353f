/** Pictures of OME-Zarr images: what metadata says, how channels are laid over each other, how files are read. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { barLength, composite, contrastOf, outline, windowOfPixels } from '../../src/lib/images/pictures/composite.ts';
import { channelsOf, readColour, readLabels, readOme } from '@service/contract/ome';
import { readLabelsOf, readPicture } from '../../src/lib/images/pictures/read.ts';
import { type DataService, makePlate, serveFiles, square, writeImage4, writeImage5 } from './ome-zarr.ts';

const RED = [255, 0, 0] as const;
const GREEN = [0, 255, 0] as const;
const channel = (colour = RED as readonly [number, number, number], window?: [number, number]) => ({
  name: 'Stain',
  colour,
  window,
  shown: true,
});

describe('the metadata of an image', () => {
  const datasets = [
    { path: '0', coordinateTransformations: [{ type: 'scale', scale: [1, 0.5, 0.5] }] },
    { path: '1', coordinateTransformations: [{ type: 'scale', scale: [1, 1, 1] }] },
  ];
  const axes = ['c', 'y', 'x'].map((name) => ({ name, type: 'space', unit: 'micrometer' }));
  const omero = {
    channels: [
      { label: 'DAPI', color: '0000FF', window: { start: 100, end: 2000 } },
      { wavelength_id: 'A02', color: '#00ff00', active: false, window: { start: 5, end: 5 } },
      {},
    ],
  };

  it.each([
    ['0.4', { multiscales: [{ axes, datasets }], omero }],
    ['0.5', { ome: { multiscales: [{ axes, datasets }], omero } }],
  ])('is read in version %s', (_, attributes) => {
    const image = readOme(attributes)!;
    expect(image).toMatchObject({ axes: ['c', 'y', 'x'], unit: 'µm' });
    expect(image.levels).toEqual([
      { path: '0', scale: [1, 0.5, 0.5] },
      { path: '1', scale: [1, 1, 1] },
    ]);
    expect(image.channels.map(({ name, colour, window, shown }) => [name, [...colour], window, shown])).toEqual([
      ['DAPI', [0, 0, 255], [100, 2000], true],
      ['A02', [0, 255, 0], undefined, false],
      ['Channel 3', [255, 106, 200], undefined, true],
    ]);
  });

  it('is read where axes are only names, or not said', () => {
    expect(readOme({ multiscales: [{ axes: ['y', 'x'], datasets: [{ path: 's0' }] }] })).toMatchObject({
      axes: ['y', 'x'],
      levels: [{ path: 's0', scale: undefined }],
    });
    expect(readOme({ multiscales: [{ datasets: [{ path: '0' }] }] })?.axes).toEqual(['t', 'c', 'z', 'y', 'x']);
  });

  it('multiplies what all levels share', () => {
    const coordinateTransformations = [{ type: 'scale', scale: [1, 2, 2] }];
    const image = readOme({ multiscales: [{ axes, datasets, coordinateTransformations }] });
    expect(image?.levels[0]?.scale).toEqual([1, 1, 1]);
  });

  it.each([undefined, {}, { multiscales: [] }, { multiscales: [{ datasets: [] }] }, { plate: {} }])(
    'of %j is that of no image',
    (attributes) => expect(readOme(attributes)).toBeUndefined(),
  );

  it('names colours, labels and channels that nobody named', () => {
    expect([readColour('#FF8000'), readColour('ff8000ff'), readColour('red'), readColour(7)]).toEqual([
      [255, 128, 0],
      [255, 128, 0],
      undefined,
      undefined,
    ]);
    expect(readLabels({ labels: ['nuclei', 3] })).toEqual(['nuclei']);
    expect(readLabels({ ome: { labels: ['cells'] } })).toEqual(['cells']);
    expect(channelsOf([], 1)).toMatchObject([{ name: 'Image', colour: [255, 255, 255] }]);
    expect(channelsOf([], 2).map(({ name }) => name)).toEqual(['Channel 1', 'Channel 2']);
    expect(channelsOf([], 2 ** 31 - 1).length).toBe(1000);
  });
});

describe('channels over each other', () => {
  it('add up in their colours, between dark and bright', () => {
    const image = composite(
      [
        { channel: channel(RED, [100, 200]), pixels: [0, 100, 150, 900] },
        { channel: channel(GREEN, [0, 10]), pixels: [10, 0, 5, 0] },
      ],
      4,
    );
    expect([...image]).toEqual([0, 255, 0, 255, 0, 0, 0, 255, 128, 128, 0, 255, 255, 0, 0, 255]);
  });

  it('take the contrast of their pixels where metadata says none, or only what numbers there can be', () => {
    const pixels = [...Array.from({ length: 1000 }, (_, at) => at), 60_000];
    expect(windowOfPixels(pixels)).toEqual([10, 998]);
    expect(contrastOf({ channel: channel(RED), pixels })).toEqual([10, 998]);
    expect(contrastOf({ channel: channel(RED, [0, 65_535]), pixels })).toEqual([10, 998]);
    expect(contrastOf({ channel: channel(RED, [0, 255]), pixels })).toEqual([0, 255]);
    expect(windowOfPixels([7, 7, 7])).toEqual([7, 8]);
    expect(windowOfPixels([])).toEqual([0, 1]);
  });

  it('are drawn of any kind of number', () => {
    for (const pixels of [new Float32Array([0, 1]), new BigUint64Array([0n, 1n]), [false, true], [NaN, 1]])
      expect([...composite([{ channel: channel(RED, [0, 1]), pixels }], 2)]).toEqual([0, 0, 0, 255, 255, 0, 0, 255]);
  });

  it('have the ends of objects drawn over them, also of labels that are smaller', () => {
    const image = composite([], 16);
    outline(image, 4, 4, { width: 2, height: 2, pixels: [1, 0, 0, 0] });
    const drawn = Array.from({ length: 16 }, (_, at) => (image[at * 4] === 255 ? 'x' : '.')).join('');
    expect(drawn).toBe('.x..xx..........');
  });
});

it('a bar for size is one, two or five of something', () => {
  expect([100, 41.6, 13, 0.9].map(barLength)).toEqual([20, 10, 5, 0.2]);
});

describe('files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pictures-'));
  const { signal } = new AbortController();
  let data: DataService;
  const at = (path: string) => `${data.url}files${folder}/${path}`;

  beforeAll(async () => {
    data = await serveFiles(folder);
    makePlate(folder, 'P1', 1, 2);
    await writeImage5(join(folder, 'five'), [square(1000), square(500)]);
    await writeImage4(join(folder, 'four'), [square(1000)]);
  });
  afterAll(() => {
    data.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const drawn = ({ planes, width, height }: Awaited<ReturnType<typeof readPicture>>) =>
    composite(planes, width * height);

  it('of a plate that a task wrote: the smallest level that is large enough', async () => {
    const small = await readPicture(at('P1.zarr/A/01/0'), 30, signal);
    expect([small.width, small.height, small.planes.length]).toEqual([32, 32, 2]);
    expect(small.planes.map(({ channel: { name, colour } }) => [name, [...colour]])).toEqual([
      ['DAPI', [0x44, 0x88, 0xff]],
      ['Tubulin', [0x22, 0xdd, 0x66]],
    ]);
    expect(small.pixelSize).toEqual({ full: 0.65, here: 1.3, unit: 'µm' });
    const large = await readPicture(at('P1.zarr/A/01/0'), 500, signal);
    expect([large.width, large.pixelSize?.here]).toEqual([64, 0.65]);
    const other = await readPicture(at('P1.zarr/A/02/0'), 30, signal);
    expect(Math.max(...drawn(small).filter((_, one) => one % 4 !== 3))).toBeGreaterThan(100);
    expect(drawn(small)).not.toEqual(drawn(other));
  });

  it('of version 0.5, packed by Blosc', async () => {
    const picture = await readPicture(at('five'), 30, signal);
    expect(picture.planes.map(({ channel: { name } }) => name)).toEqual(['Stain 1', 'Stain 2']);
    const image = drawn(picture);
    expect([...image.slice(0, 4)]).toEqual([0, 0, 0, 255]);
    expect([...image.slice((16 * 32 + 16) * 4, (16 * 32 + 16) * 4 + 4)]).toEqual([255, 255, 0, 255]);
  });

  it('of version 0.4, packed by Blosc, with its labels', async () => {
    const picture = await readPicture(at('four'), 30, signal);
    expect(picture.planes[0]?.channel).toMatchObject({ name: 'Image', colour: [255, 255, 255] });
    expect(drawn(picture)[(16 * 32 + 16) * 4]).toBe(255);
    const labels = await readLabelsOf(at('four'), 30, signal);
    expect([labels?.name, labels?.width, labels?.pixels[16 * 32 + 16]]).toEqual(['nuclei', 32, 1]);
    expect(await readLabelsOf(at('P1.zarr/A/01/0'), 30, signal)).toBeUndefined();
  });

  it.each(['nothing', 'P1.zarr', 'P1.zarr/A'])('of %s are no picture', async (path) => {
    await expect(readPicture(at(path), 30, signal)).rejects.toThrow();
  });
});
