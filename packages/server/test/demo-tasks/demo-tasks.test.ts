/** The demo task package, built, installed and run by a real Python, with outputs applied as a job applies them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readManifest, tasksOfManifest } from '../../src/tasks/manifest.ts';
import { LONG, oneIn } from '../support/long.ts';

const SOURCE = fileURLToPath(new URL('../../../demo-tasks/', import.meta.url));
const WHEEL = 'demo_tasks-0.1.0-py3-none-any.whl';

type Json = Record<string, unknown>;
interface Image {
  zarr_url: string;
  origin: string | null;
  attributes: Json;
  types: Record<string, boolean>;
}

const folder = mkdtempSync(join(tmpdir(), 'demo-tasks-'));
const zarr_dir = join(folder, 'zarr');
const python = join(folder, 'venv/bin/python');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const readJson = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));

function buildWheel(into: string) {
  execFileSync('python3', [join(SOURCE, 'build_backend.py'), join(folder, into)]);
  return readFileSync(join(folder, into, WHEEL));
}

function manifest() {
  const read = readManifest(readFileSync(join(SOURCE, 'demo_tasks/__FRACTAL_MANIFEST__.json'), 'utf8'));
  if ('problem' in read) throw new Error(read.problem);
  return read.manifest;
}

let packageRoot: string;
const installedTask = (name: string) => {
  const found = tasksOfManifest(manifest(), { python, packageRoot, version: '0.1.0' }).find(
    (task) => task.name === name,
  );
  if (!found) throw new Error(`no task ${name}`);
  return found;
};

let units = 0;
/** Runs one process of a task, as a worker does. */
function unit(command: string | null | undefined, args: Json) {
  const [argsFile, outFile] = [join(folder, `${++units}.args.json`), join(folder, `${units}.out.json`)];
  writeFileSync(argsFile, JSON.stringify(args));
  const [program, ...words] = command!.split(' ');
  const { status, signal, stdout, stderr } = spawnSync(
    program!,
    [...words, '--args-json', argsFile, '--out-json', outFile],
    { encoding: 'utf8' },
  );
  return { status, signal, log: stdout + stderr, output: existsSync(outFile) ? readJson(outFile) : undefined };
}

function outputOf(command: string | null | undefined, args: Json) {
  const { status, signal, log, output } = unit(command, args);
  if (status !== 0) throw new Error(`${command} ended with ${status ?? signal}:\n${log}`);
  return output;
}

const parallel = (name: string, args: Json) => unit(installedTask(name).command_parallel, args);
const nonParallel = (name: string, args: Json) => unit(installedTask(name).command_non_parallel, args);

/** A dataset on which tasks run one after the other; types of an output filter the input of the next task. */
class Dataset {
  images: Image[] = [];
  filters: Record<string, boolean> = {};

  run(name: string, args: { parallel?: Json; nonParallel?: Json } = {}) {
    const task = installedTask(name);
    const filters = Object.entries({ ...this.filters, ...task.input_types });
    const selected = this.images.filter(({ types }) => filters.every(([type, on]) => (types[type] ?? false) === on));
    const urls = selected.map(({ zarr_url }) => zarr_url);
    const one = () =>
      outputOf(task.command_non_parallel, {
        zarr_dir,
        ...(task.type.startsWith('converter') ? {} : { zarr_urls: urls }),
        ...args.nonParallel,
      });
    const many = (items: Json[]) =>
      items.map((item) => outputOf(task.command_parallel, { ...item, ...args.parallel }) as Json);

    const outputs = task.type.endsWith('compound')
      ? many(one().parallelization_list as Json[])
      : task.type === 'parallel'
        ? many(urls.map((zarr_url) => ({ zarr_url })))
        : [one()];
    for (const update of outputs.flatMap((output) => output.image_list_updates as Partial<Image>[])) {
      this.apply(update, task.output_types);
    }
    this.filters = { ...this.filters, ...task.output_types };
    return urls;
  }

  /** As the service merges what a task says of an image. */
  apply(update: Partial<Image>, output_types: Record<string, boolean>) {
    const at = this.images.findIndex(({ zarr_url }) => zarr_url === update.zarr_url);
    const base = this.images.find(({ zarr_url }) => zarr_url === (update.origin ?? update.zarr_url));
    const image: Image = {
      zarr_url: update.zarr_url!,
      origin: update.origin ?? this.images[at]?.origin ?? null,
      attributes: { ...base?.attributes, ...update.attributes },
      types: { ...base?.types, ...update.types, ...output_types },
    };
    if (at === -1) this.images.push(image);
    else this.images[at] = image;
  }
}

/** The pixels of one chunk that is stored without compression. */
function pixels(...path: string[]) {
  const content = readFileSync(join(...path));
  return new Uint16Array(content.buffer, content.byteOffset, content.length / 2);
}

/** The brightest tile of a plane compared with the darkest, by medians, which few cells do not change. */
function unevenness(plane: Uint16Array, width: number, tiles = 6) {
  const size = width / tiles;
  const medians = Array.from({ length: tiles * tiles }, (_, tile) => {
    const [top, left] = [Math.floor(tile / tiles) * size, (tile % tiles) * size];
    const values = Array.from({ length: size * size }, (_, at) => {
      return plane[(top + Math.floor(at / size)) * width + left + (at % size)]!;
    });
    return values.sort((a, b) => a - b)[values.length / 2]!;
  });
  return Math.max(...medians) / Math.min(...medians);
}

const csv = (path: string) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));

beforeAll(() => {
  buildWheel('first');
  execFileSync('python3', ['-m', 'venv', join(folder, 'venv')]);
  const pip = ['-m', 'pip', 'install', '--no-index', '--disable-pip-version-check', join(folder, 'first', WHEEL)];
  execFileSync(python, pip);
  const where = ['-c', 'import demo_tasks; print(demo_tasks.__path__[0])'];
  packageRoot = execFileSync(python, where, { cwd: folder, encoding: 'utf8' }).trim();
}, 120_000);

describe('the package', () => {
  it('has a manifest that is accepted, with a task of every type and words for all of them', () => {
    const { task_list, args_schema_version } = manifest();
    expect(args_schema_version).toBe('pydantic_v2');
    expect(new Set(task_list.map(({ type }) => type))).toEqual(
      new Set(['parallel', 'non_parallel', 'compound', 'converter_non_parallel', 'converter_compound']),
    );
    for (const task of task_list) {
      expect(task.docs_info, task.name).toContain(`### ${task.name}\n`);
      expect([task.category, task.modality], task.name).toEqual([expect.any(String), 'HCS']);
      expect(task.tags, task.name).toContain('demo');
    }
  });

  it('is the same wheel, byte for byte, each time it is built', () => {
    expect(buildWheel('second').equals(readFileSync(join(folder, 'first', WHEEL)))).toBe(true);
  });

  it('installs without an index, with the manifest and all executables', () => {
    expect(packageRoot).toMatch(/\/site-packages\/demo_tasks$/);
    expect(readJson(packageRoot, '__FRACTAL_MANIFEST__.json').task_list).toHaveLength(8);
    for (const { executable_parallel, executable_non_parallel } of manifest().task_list) {
      for (const executable of [executable_parallel, executable_non_parallel]) {
        if (executable !== null) expect(existsSync(join(packageRoot, executable)), executable).toBe(true);
      }
    }
    expect(spawnSync(python, ['-m', 'pip', 'check', '--disable-pip-version-check']).status).toBe(0);
  });

  it('installs from its source folder without an index', () => {
    const target = join(folder, 'from-source');
    const pip = ['-m', 'pip', 'install', '--no-index', '--disable-pip-version-check', '--target', target, SOURCE];
    execFileSync(python, pip, { env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } });
    expect(readdirSync(target).sort()).toEqual(['demo_tasks', 'demo_tasks-0.1.0.dist-info']);
  });
});

describe('the first workflow, with default arguments on two wells', () => {
  const dataset = new Dataset();
  const drawn = ['01', '02'].map((column) => join(zarr_dir, 'demo.zarr/A', column, '0'));
  const corrected = drawn.map((url) => `${url}_corrected`);
  const projected = corrected.map((url) => url.replace('demo.zarr', 'demo_mip.zarr'));
  const inputs: Record<string, string[]> = {};

  beforeAll(() => {
    const layout = { rows: 1, columns: 2 };
    for (const name of [
      'Make Demo Plate',
      'Correct Illumination',
      'Maximum Projection',
      'Segment Nuclei',
      'Measure Nuclei',
      'Summarise Plate',
    ]) {
      inputs[name] = dataset.run(name, name === 'Make Demo Plate' ? { nonParallel: { layout } } : {});
    }
  }, 120_000);

  it('gives each task the images that the one before made', () => {
    expect(inputs).toEqual({
      'Make Demo Plate': [],
      'Correct Illumination': drawn,
      'Maximum Projection': corrected,
      'Segment Nuclei': projected,
      'Measure Nuclei': projected,
      'Summarise Plate': projected,
    });
  });

  it('leaves an image list with origins, attributes and types', () => {
    const wells = ['A01', 'A02'];
    const rows = (urls: string[], plate: string, types: Json, origins?: string[]) =>
      urls.map((zarr_url, at) => ({
        zarr_url,
        origin: origins?.[at] ?? null,
        attributes: expect.objectContaining({ plate, well: wells[at] }),
        types,
      }));
    expect(dataset.images).toEqual([
      ...rows(drawn, 'demo.zarr', { is_3D: true }),
      ...rows(corrected, 'demo.zarr', { is_3D: true, illumination_corrected: true }, drawn),
      ...rows(projected, 'demo_mip.zarr', { is_3D: false, illumination_corrected: true }, corrected),
    ]);
  });

  it.each([
    ['demo.zarr', ['0', '0_corrected']],
    ['demo_mip.zarr', ['0_corrected']],
  ])('lists the wells and images of %s in its metadata', (name, images) => {
    const { plate } = readJson(zarr_dir, name, '.zattrs');
    expect(plate).toMatchObject({
      version: '0.4',
      rows: [{ name: 'A' }],
      columns: [{ name: '01' }, { name: '02' }],
      wells: [
        { path: 'A/01', rowIndex: 0, columnIndex: 0 },
        { path: 'A/02', rowIndex: 0, columnIndex: 1 },
      ],
    });
    for (const { path } of plate.wells) {
      const { well } = readJson(zarr_dir, name, path, '.zattrs');
      expect(well).toEqual({ version: '0.4', images: images.map((image) => ({ path: image })) });
    }
    for (const group of ['', 'A', 'A/01', `A/01/${images[0]}`]) {
      expect(readJson(zarr_dir, name, group, '.zgroup')).toEqual({ zarr_format: 2 });
    }
  });

  it.each([
    ['a drawn image', drawn[0]!, 3],
    ['a corrected image', corrected[0]!, 3],
    ['a projection', projected[0]!, 1],
  ])('stores %s as its metadata says', (_, url, planes) => {
    const { multiscales, omero } = readJson(url, '.zattrs');
    expect(multiscales[0].axes.map(({ name }: { name: string }) => name).join('')).toBe('czyx');
    expect(multiscales[0].datasets.map(({ path }: { path: string }) => path)).toEqual(['0', '1', '2']);
    expect(omero.channels.map(({ label }: { label: string }) => label)).toEqual(['nuclei', 'membrane']);
    for (const [level, { path, coordinateTransformations }] of multiscales[0].datasets.entries()) {
      const size = 192 / 2 ** level;
      const { shape, chunks, dtype, compressor, dimension_separator } = readJson(url, path, '.zarray');
      expect({ shape, chunks, dtype, compressor, dimension_separator }).toEqual({
        shape: [2, planes, size, size],
        chunks: [1, 1, size, size],
        dtype: '<u2',
        compressor: null,
        dimension_separator: '/',
      });
      const pixel = 0.65 * 2 ** level;
      expect(coordinateTransformations).toEqual([{ type: 'scale', scale: [1, 1, pixel, pixel] }]);
      for (const channel of ['0', '1']) {
        expect(readdirSync(join(url, path, channel))).toHaveLength(planes);
        for (let z = 0; z < planes; z++) {
          expect(pixels(url, path, channel, `${z}/0/0`)).toHaveLength(size * size);
        }
      }
    }
  });

  it('makes each resolution the mean of the one before', () => {
    const [full, half] = [pixels(drawn[0]!, '0/0/1/0/0'), pixels(drawn[0]!, '1/0/1/0/0')];
    const expected = half.map((_, at) => {
      const corner = Math.floor(at / 96) * 2 * 192 + (at % 96) * 2;
      return Math.floor((full[corner]! + full[corner + 1]! + full[corner + 192]! + full[corner + 193]!) / 4);
    });
    expect(half).toEqual(expected);
  });

  it('makes the background flat, as seen between the nuclei', () => {
    for (const [at, url] of drawn.entries()) {
      expect(unevenness(pixels(url, '0/0/1/0/0'), 192)).toBeGreaterThan(1.5);
      expect(unevenness(pixels(corrected[at]!, '0/0/1/0/0'), 192)).toBeLessThan(1.15);
    }
  });

  it.each(['0', '1'])('would make an empty image flat by what it did to channel %s', (channel) => {
    const { command_non_parallel, command_parallel } = installedTask('Make Demo Plate');
    const init = { zarr_dir, plate_name: 'lamp', layout: { rows: 1, columns: 1 }, overwrite: true };
    const [item] = outputOf(command_non_parallel, init).parallelization_list;
    outputOf(command_parallel, { ...item, noise: 0, nuclei: { number: [0, 0] } });
    const lamp = pixels(item.zarr_url, '0/0/0/0/0');
    expect(unevenness(lamp, 192)).toBeGreaterThan(1.5);
    for (const [at, url] of drawn.entries()) {
      const [before, after] = [url, corrected[at]!].map((image) => pixels(image, '0', channel, '1/0/0'));
      const flat = lamp.map((value, place) => (value * after![place]!) / before![place]!);
      expect(unevenness(flat, 192)).toBeLessThan(1.15);
    }
  });

  it.each(['0', '1'])('projects channel %s to its maximum', (channel) => {
    for (const [at, url] of corrected.entries()) {
      const [first, second, third] = ['0', '1', '2'].map((z) => pixels(url, '0', channel, z, '0/0'));
      const highest = first!.map((value, place) => Math.max(value, second![place]!, third![place]!));
      expect(pixels(projected[at]!, '0', channel, '0/0/0')).toEqual(highest);
    }
  });

  it('finds the nuclei that were drawn, and measures each', () => {
    for (const [at, url] of projected.entries()) {
      const drawnNuclei: number = readJson(drawn[at]!, '.zattrs').demo_tasks.number_of_nuclei;
      const labels = readJson(url, 'labels/nuclei/.zattrs');
      expect(readJson(url, 'labels/.zattrs')).toEqual({ labels: ['nuclei'] });
      expect(labels['image-label']).toEqual({ version: '0.4', source: { image: '../../' } });
      expect(labels.multiscales[0].axes.map(({ name }: { name: string }) => name).join('')).toBe('zyx');
      expect(readJson(url, 'labels/nuclei/0/.zarray')).toMatchObject({ shape: [1, 192, 192], dtype: '<u4' });

      const content = readFileSync(join(url, 'labels/nuclei/0/0/0/0'));
      const found = new Set(new Uint32Array(content.buffer, content.byteOffset, content.length / 4));
      expect(found).toEqual(new Set(Array.from({ length: found.size }, (_, label) => label)));
      const number = found.size - 1;
      expect(drawnNuclei).toBeGreaterThanOrEqual(5);
      expect(Math.abs(number - drawnNuclei)).toBeLessThanOrEqual(1);

      const [header, ...lines] = csv(join(url, 'tables/nuclei/table.csv'));
      expect(readJson(url, 'tables/.zattrs')).toEqual({ tables: ['nuclei'] });
      expect(readJson(url, 'tables/nuclei/.zattrs')).toEqual({
        type: 'feature_table',
        table_version: '1',
        backend: 'csv',
        index_key: 'label',
        index_type: 'int',
        instance_key: 'label',
        region: { path: '../labels/nuclei' },
      });
      expect(header).toEqual(
        'label num_pixels volume_um3 z_um y_um x_um mean_nuclei max_nuclei mean_membrane max_membrane'.split(' '),
      );
      expect(lines.map(([label]) => Number(label))).toEqual(Array.from({ length: number }, (_, at) => at + 1));
      expect(lines.flat().every((value) => Number.isFinite(Number(value)))).toBe(true);
    }
  });

  it('summarises the plate in a file and in attributes', () => {
    const [header, ...lines] = csv(join(zarr_dir, 'summary.csv'));
    expect(header!.slice(0, 4)).toEqual(['plate', 'well', 'image', 'num_nuclei']);
    const counted = projected.map((url) => csv(join(url, 'tables/nuclei/table.csv')).length - 1);
    expect(lines.map((line) => line.slice(0, 4))).toEqual([
      ['demo_mip.zarr', 'A01', '0_corrected', `${counted[0]}`],
      ['demo_mip.zarr', 'A02', '0_corrected', `${counted[1]}`],
    ]);
    expect(dataset.images.map(({ attributes }) => attributes['num_nuclei'])).toEqual([
      ...Array.from({ length: 4 }),
      ...counted,
    ]);
  });

  it('can be imported again from disk', () => {
    const imported = new Dataset();
    imported.run('Import Existing Plate', { nonParallel: { plate: 'demo.zarr', attributes: { owner: 'Ada' } } });
    imported.run('Import Existing Plate', { nonParallel: { plate: `${zarr_dir}/demo_mip.zarr/`, wells: ['A02'] } });
    const image = (zarr_url: string, plate: string, well: string, is_3D: boolean, more = {}) => {
      return { zarr_url, origin: null, attributes: { ...more, plate, well }, types: { is_3D } };
    };
    const owner = { owner: 'Ada' };
    expect(imported.images).toEqual([
      image(drawn[0]!, 'demo.zarr', 'A01', true, owner),
      image(corrected[0]!, 'demo.zarr', 'A01', true, owner),
      image(drawn[1]!, 'demo.zarr', 'A02', true, owner),
      image(corrected[1]!, 'demo.zarr', 'A02', true, owner),
      image(projected[1]!, 'demo_mip.zarr', 'A02', false),
    ]);
  });

  it.each(
    oneIn<[string, () => ReturnType<typeof unit>, string]>(3, [
      [
        'a plate that exists',
        () => nonParallel('Make Demo Plate', { zarr_dir }),
        'exists already. Choose another plate_name, or switch on overwrite.',
      ],
      [
        'a plate outside of the folder of the dataset',
        () => nonParallel('Import Existing Plate', { zarr_dir, plate: '../demo.zarr' }),
        'Copy or move the plate into that folder.',
      ],
      [
        'a plate that is not there',
        () => nonParallel('Import Existing Plate', { zarr_dir, plate: 'demos.zarr' }),
        'Check the name of the plate.',
      ],
      [
        'a folder that is no plate',
        () => nonParallel('Import Existing Plate', { zarr_dir, plate: 'demo.zarr/A' }),
        'is not an OME-Zarr plate.',
      ],
      [
        'a well that the plate does not have',
        () => nonParallel('Import Existing Plate', { zarr_dir, plate: 'demo.zarr', wells: ['C07'] }),
        'demo.zarr has no well C07. It has A01, A02.',
      ],
      [
        'planes that the image does not have',
        () =>
          parallel('Maximum Projection', {
            zarr_url: projected[0]!,
            init_args: { origin_url: corrected[0]! },
            z_range: [1, 3],
          }),
        'has the planes 0 to 2. Give the first and the last plane to use.',
      ],
      [
        'a channel that the image does not have',
        () => parallel('Segment Nuclei', { zarr_url: drawn[0]!, channel_label: 'DAPI' }),
        "has no channel 'DAPI'. Choose one of: nuclei, membrane.",
      ],
      [
        'an image without labels',
        () => parallel('Measure Nuclei', { zarr_url: drawn[0]! }),
        "has no label image 'nuclei'. Run Segment Nuclei first.",
      ],
      [
        'an image without table, when asked to fail',
        () => nonParallel('Summarise Plate', { zarr_dir, zarr_urls: drawn, missing_tables: 'fail' }),
        "2 of 2 images have no table 'nuclei'. Run Measure Nuclei on them:",
      ],
      [
        'an image that is not there',
        () => parallel('Correct Illumination', { zarr_url: `${zarr_dir}/demo.zarr/A/09/0` }),
        'Check that the task that writes it has run.',
      ],
    ]),
  )('refuses %s and says what to do', (_, run, words) => {
    const { status, log, output } = run();
    expect(log).toContain(words);
    expect(log).not.toContain('Traceback');
    expect([status, output]).toEqual([1, undefined]);
  });

  it('warns about images without table, and leaves them out', () => {
    const args = { zarr_dir, zarr_urls: [drawn[0], projected[0]], file_name: 'part.csv' };
    const { status, log, output } = nonParallel('Summarise Plate', args);
    expect(status).toBe(0);
    expect(log).toContain('Warning: 1 of 2 images have no table');
    expect(output.image_list_updates.map(({ zarr_url }: Image) => zarr_url)).toEqual([projected[0]]);
    expect(csv(join(zarr_dir, 'part.csv'))).toHaveLength(2);
  });
});

describe.runIf(LONG)('options', () => {
  const make = (plate_name: string, compute: Json = {}, init: Json = {}) => {
    const { command_non_parallel, command_parallel } = installedTask('Make Demo Plate');
    const layout = { rows: 1, columns: 1 };
    const [item] = outputOf(command_non_parallel, { zarr_dir, plate_name, layout, ...init }).parallelization_list;
    const image = { size: 96, planes: 2, levels: 2 };
    outputOf(command_parallel, { ...item, image, nuclei: { number: [4, 4] }, ...compute });
    return item.zarr_url as string;
  };
  const truth = (url: string): number => readJson(url, '.zattrs').demo_tasks.number_of_nuclei;
  const labelsOf = (url: string) => {
    const stored = readFileSync(join(url, 'labels/nuclei/0/0/0/0'));
    const content = readJson(url, 'labels/nuclei/0/.zarray').compressor ? inflateSync(stored) : stored;
    return new Set(Array.from({ length: content.length / 4 }, (_, at) => content.readUInt32LE(4 * at)));
  };

  it('the same seed gives the same pixels, another seed others', () => {
    const [one, again, other] = [make('one'), make('again'), make('other', {}, { seed: 2 })];
    expect(pixels(again, '0/1/1/0/0')).toEqual(pixels(one, '0/1/1/0/0'));
    expect(pixels(other, '0/1/1/0/0')).not.toEqual(pixels(one, '0/1/1/0/0'));
  });

  it('pixels are the same with compression, and read by the other tasks', () => {
    const [plain, packed] = [make('plain'), make('packed', { compression: 'zlib' })];
    const unpacked = inflateSync(readFileSync(join(packed, '0/0/1/0/0')));
    expect(unpacked.equals(readFileSync(join(plain, '0/0/1/0/0')))).toBe(true);
    for (const zarr_url of [plain, packed]) {
      outputOf(installedTask('Segment Nuclei').command_parallel, { zarr_url });
      expect(truth(zarr_url)).toBe(4);
      expect(labelsOf(zarr_url).size - 1).toBe(4);
    }
  });

  it('a treatment leaves fewer cells from column to column, and condenses more of their nuclei', () => {
    const effects = (what: string, treatment?: Json) =>
      nonParallel('Make Demo Plate', {
        zarr_dir,
        plate_name: 'doses',
        layout: { rows: 1, columns: 3 },
        overwrite: true,
        ...(treatment && { treatment }),
      }).output.parallelization_list.map(({ init_args }: { init_args: Json }) => init_args[what]);
    expect(effects('survival')).toEqual([1, 0.75, 0.5]);
    expect(effects('condensed')).toEqual([0, 0.3, 0.6]);
    expect(effects('treatment')).toEqual(['control', 'drug 50%', 'drug 100%']);
    expect(effects('survival', { kind: 'dose_series', lowest_survival: 0 })).toEqual([1, 0.5, 0]);
    expect(effects('survival', { kind: 'none' })).toEqual([1, 1, 1]);
    expect(effects('treatment', { kind: 'none' })).toEqual(['control', 'control', 'control']);
  });

  it('condensed nuclei are smaller and brighter, and their image says what was done', () => {
    const measured = [0, 1].map((condensed) => {
      const zarr_url = join(zarr_dir, `drug${condensed}.zarr/A/01/0`);
      const init_args = { seed: 3, survival: 1, condensed, treatment: condensed ? 'drug 100%' : 'control' };
      const [update] = parallel('Make Demo Plate', { zarr_url, init_args }).output.image_list_updates;
      expect(update.attributes.treatment).toBe(init_args.treatment);
      expect(parallel('Segment Nuclei', { zarr_url }).status).toBe(0);
      expect(parallel('Measure Nuclei', { zarr_url }).status).toBe(0);
      const [header, ...lines] = csv(join(zarr_url, 'tables/nuclei/table.csv'));
      const meanOf = (column: string) =>
        lines.reduce((sum, line) => sum + Number(line[header!.indexOf(column)]), 0) / lines.length;
      return { size: meanOf('num_pixels'), brightness: meanOf('mean_nuclei'), count: lines.length };
    });
    expect(measured[1]!.size).toBeLessThan(0.7 * measured[0]!.size);
    expect(measured[1]!.brightness).toBeGreaterThan(1.3 * measured[0]!.brightness);
  });

  it('overwriting replaces a plate, and nothing that is not a plate', () => {
    const url = make('replaced', { image: { size: 64 } });
    make('replaced', {}, { overwrite: true });
    expect(readJson(url, '0/.zarray').shape).toEqual([2, 2, 96, 96]);
    mkdirSync(join(zarr_dir, 'thesis.zarr'));
    const { status, log } = nonParallel('Make Demo Plate', { zarr_dir, plate_name: 'thesis', overwrite: true });
    expect(log).toContain('is not a plate, so it is not overwritten.');
    expect([status, existsSync(join(zarr_dir, 'thesis.zarr'))]).toEqual([1, true]);
  });

  it('an image with one plane is 2D', () => {
    const dataset = new Dataset();
    const nonParallel = { plate_name: 'flat', layout: { rows: 1, columns: 1 } };
    dataset.run('Make Demo Plate', { nonParallel, parallel: { image: { size: 64, planes: 1, levels: 1 } } });
    expect(dataset.images.map(({ types }) => types)).toEqual([{ is_3D: false }]);
  });

  it('a known profile is taken back exactly, in the image itself', () => {
    const zarr_url = make('known', { noise: 0, nuclei: { number: [0, 0] } });
    const profile = { kind: 'known', falloff: 0.5, centre: [0.46, 0.54] };
    expect(unevenness(pixels(zarr_url, '0/0/0/0/0'), 96)).toBeGreaterThan(1.5);
    const { output } = parallel('Correct Illumination', { zarr_url, profile, overwrite_input: true });
    expect(output).toEqual({ image_list_updates: [{ zarr_url }] });
    const values = pixels(zarr_url, '0/0/0/0/0');
    expect(Math.min(...values)).toBeGreaterThanOrEqual(198);
    expect(Math.max(...values)).toBeLessThanOrEqual(200);
    expect(readJson(zarr_url, '..', '.zattrs').well.images).toEqual([{ path: '0' }]);
    expect(truth(zarr_url)).toBe(0);
  });

  it('an empty well gives empty labels, an empty table and a warning', () => {
    const zarr_url = make('empty', { nuclei: { number: [0, 0] } });
    const { log } = parallel('Segment Nuclei', { zarr_url, threshold: { method: 'fixed', value: 1000 } });
    expect(log).toContain('Warning: there are no nuclei. Try a lower threshold or a smaller min_size.');
    outputOf(installedTask('Measure Nuclei').command_parallel, { zarr_url });
    expect(csv(join(zarr_url, 'tables/nuclei/table.csv'))).toHaveLength(1);
    const { output } = nonParallel('Summarise Plate', { zarr_dir, zarr_urls: [zarr_url], file_name: 'empty.csv' });
    expect(output.image_list_updates).toEqual([{ zarr_url, attributes: { num_nuclei: 0 } }]);
  });

  it('sizes limit what counts as a nucleus, and features what is measured', () => {
    const zarr_url = make('sizes');
    const segmented = (args: Json) => {
      outputOf(installedTask('Segment Nuclei').command_parallel, { zarr_url, ...args });
      outputOf(installedTask('Measure Nuclei').command_parallel, { zarr_url, features: ['size'] });
      return csv(join(zarr_url, 'tables/nuclei/table.csv'));
    };
    const [header, ...lines] = segmented({});
    expect(header).toEqual(['label', 'num_pixels', 'volume_um3']);
    const sizes = lines.map(([, size]) => Number(size)).sort((a, b) => a - b);
    expect(sizes).toHaveLength(4);
    expect(segmented({ min_size: sizes[1]! })).toHaveLength(1 + sizes.filter((size) => size >= sizes[1]!).length);
    expect(segmented({ max_size: sizes[1]! })).toHaveLength(1 + sizes.filter((size) => size <= sizes[1]!).length);
  });

  it('running a task again replaces what it wrote', () => {
    const zarr_url = make('twice');
    const again = () => {
      const { output } = parallel('Correct Illumination', { zarr_url });
      return [output, readJson(zarr_url, '..', '.zattrs').well.images, readdirSync(join(zarr_url, '..')).sort()];
    };
    const first = again();
    expect(first[2]).toEqual(['.zattrs', '.zgroup', '0', '0_corrected']);
    expect(again()).toEqual(first);
  });
});

describe('Fail On Wells', () => {
  const at = (column: string) => `${zarr_dir}/any.zarr/B/${column}/0`;

  it.each(
    oneIn<[string, Json, { status: number | null; signal: string | null; log: RegExp }]>(3, [
      [
        'exception',
        {},
        { status: 1, signal: null, log: /Traceback[^]*zlib\.error[^]*ValueError: chunk .* is damaged/ },
      ],
      ['exit_code', {}, { status: 3, signal: null, log: /giving up with exit code 3/ }],
      ['exit_code', { exit_code: 77 }, { status: 77, signal: null, log: /giving up with exit code 77/ }],
      ['signal', {}, { status: null, signal: 'SIGKILL', log: /Well B02 was chosen: signal\.\n$/ }],
      ['signal', { signal_name: 'SIGTERM' }, { status: null, signal: 'SIGTERM', log: /Well B02 was chosen/ }],
      ['memory_error', {}, { status: 1, signal: null, log: /Traceback[^]*load_whole_plate[^]*MemoryError/ }],
      ['warning', {}, { status: 0, signal: null, log: /UserWarning: Well B02 looks out of focus/ }],
    ]),
  )('%s %j', (kind, more, expected) => {
    const { status, signal, log, output } = parallel('Fail On Wells', {
      zarr_url: at('02'),
      wells: ['A01', 'B02'],
      kind,
      ...more,
    });
    expect({ status, signal }).toEqual({ status: expected.status, signal: expected.signal });
    expect(log).toMatch(expected.log);
    expect(output).toBe(kind === 'warning' ? null : undefined);
  });

  it.each<[string, Json]>([
    ['other wells', { wells: ['B02'], kind: 'signal' }],
    ['all wells when none is chosen', {}],
  ])('passes on %s', (_, args) => {
    const { status, log, output } = parallel('Fail On Wells', { zarr_url: at('03'), ...args });
    expect({ status, log, output }).toEqual({ status: 0, log: 'Well B03 is fine.\n', output: null });
  });
});

describe('arguments', () => {
  const zarr_url = `${zarr_dir}/any.zarr/A/01/0`;
  const init_args = { seed: 1, survival: 1 };

  it.each(
    oneIn<[string, 'init' | 'compute', Json, string[]]>(3, [
      ['Make Demo Plate', 'init', {}, ['arguments: zarr_dir is missing.']],
      ['Make Demo Plate', 'init', { zarr_dir, rows: 3 }, ['There is no argument "rows"; remove it.']],
      [
        'Make Demo Plate',
        'init',
        { zarr_dir, layout: { rows: 40, columns: '3' }, overwrite: 'yes', plate_name: '../x' },
        [
          'layout.rows: Use a whole number of at most 16. It is 40.',
          'layout.columns: Use a whole number. It is "3".',
          'overwrite: Use true or false. It is "yes".',
          'plate_name: Use text that matches',
        ],
      ],
      ['Make Demo Plate', 'init', { zarr_dir, layout: null }, ['layout: Use an object. It is null.']],
      [
        'Make Demo Plate',
        'init',
        { zarr_dir, layout: { rows: true } },
        ['layout.rows: Use a whole number. It is true.'],
      ],
      ['Make Demo Plate', 'init', { zarr_dir, plate_name: 'demo\n' }, ['plate_name: Use text that matches']],
      ['Make Demo Plate', 'init', [] as unknown as Json, ['arguments: Use an object. It is [].']],
      ['Make Demo Plate', 'init', { zarr_dir, seed: 1.5 }, ['seed: Use a whole number. It is 1.5.']],
      [
        'Make Demo Plate',
        'init',
        { zarr_dir, treatment: { kind: 'heat' } },
        ['treatment: Use an object whose kind is one of "dose_series", "none".'],
      ],
      [
        'Make Demo Plate',
        'init',
        { zarr_dir, treatment: { kind: 'none', lowest_survival: 1 } },
        ['treatment: There is no argument "lowest_survival"; remove it. Known are "kind".'],
      ],
      [
        'Make Demo Plate',
        'compute',
        {
          zarr_url,
          init_args,
          image: { size: 100, voxel_size: [1, 0, 1] },
          channels: [{ label: 'a', stain: 'actin' }],
        },
        [
          'image.size: Use a whole number that is a multiple of 32. It is 100.',
          'image.voxel_size.1: Use a number above 0. It is 0.',
          'channels.0.stain: Use one of "nuclei", "membrane". It is "actin".',
        ],
      ],
      [
        'Make Demo Plate',
        'compute',
        { zarr_url, init_args, channels: [] },
        ['channels: Use a list of at least 1 values.'],
      ],
      [
        'Make Demo Plate',
        'compute',
        { zarr_url, init_args, nuclei: { number: [9, 3] } },
        ['nuclei.number: Give the smaller value first. It is [9, 3].'],
      ],
      [
        'Maximum Projection',
        'compute',
        { zarr_url, init_args: { origin_url: zarr_url }, z_range: [1] },
        ['z_range: Use a list of 2 values. It is [1].'],
      ],
      [
        'Segment Nuclei',
        'compute',
        { zarr_url, min_size: 50, max_size: 20 },
        ['max_size: Use at least min_size, which is 50.'],
      ],
      ['Measure Nuclei', 'compute', { zarr_url, features: ['size', 'size'] }, ['features: Name each value once.']],
      ['Import Existing Plate', 'init', { zarr_dir }, ['arguments: plate is missing.']],
      [
        'Import Existing Plate',
        'init',
        { zarr_dir, plate: 'demo.zarr', attributes: { day: 3 } },
        ['attributes.day: Use text. It is 3.'],
      ],
      ['Fail On Wells', 'compute', { zarr_url, wells: ['a1'] }, ['wells.0: Use text that matches']],
      ['Fail On Wells', 'compute', { zarr_url: '/data/image' }, ['Its address should end like plate.zarr/A/01/0.']],
    ]),
  )('%s (%s) refuses %j', (name, part, args, words) => {
    const { status, log, output } = part === 'init' ? nonParallel(name, args) : parallel(name, args);
    for (const expected of words) expect(log).toContain(expected);
    expect(log).not.toContain('Traceback');
    expect([status, output]).toEqual([1, undefined]);
  });

  it.each([
    ['NaN', 'Use a whole number. It is NaN.'],
    ['-Infinity', 'Use a whole number. It is -Infinity.'],
    [`1${'0'.repeat(400)}`, 'Use a whole number of at most 255. It is 1000'],
  ])('refuse the number %s', (text, advice) => {
    const file = join(folder, 'number.json');
    writeFileSync(file, `{"zarr_url": "${zarr_url}", "exit_code": ${text}}`);
    const [program, script] = installedTask('Fail On Wells').command_parallel!.split(' ');
    const words = [script!, '--args-json', file, '--out-json', join(folder, 'number.out.json')];
    const { status, stderr } = spawnSync(program!, words, { encoding: 'utf8' });
    expect(stderr).toContain(`exit_code: ${advice}`);
    expect(status).toBe(1);
  });

  it('of every schema have only keywords that the tasks check', () => {
    const check = [
      'import json, sys',
      'from demo_tasks.arguments import KNOWN_KEYWORDS as known, MANIFEST',
      'def walk(schema):',
      '    yield from schema.keys() - known',
      '    for key in ("properties", "$defs"):',
      '        for inner in schema.get(key, {}).values(): yield from walk(inner)',
      '    for key in ("anyOf", "oneOf", "prefixItems"):',
      '        for inner in schema.get(key, []): yield from walk(inner)',
      '    for key in ("items", "additionalProperties"):',
      '        if isinstance(schema.get(key), dict): yield from walk(schema[key])',
      'tasks = json.loads(MANIFEST.read_text())["task_list"]',
      'schemas = [task[key] for task in tasks for key in task if key.startswith("args_schema_")]',
      'print(json.dumps([len(schemas), sorted({word for schema in schemas for word in walk(schema)})]))',
    ].join('\n');
    expect(JSON.parse(execFileSync(python, ['-c', check], { cwd: folder, encoding: 'utf8' }))).toEqual([10, []]);
  });

  it('are explained by the programs themselves', () => {
    const [program, script] = installedTask('Fail On Wells').command_parallel!.split(' ');
    const { status, stderr } = spawnSync(program!, [script!], { encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stderr).toContain(`usage: ${basename(script!)}`);
    expect(stderr).toContain('--args-json');
  });
});
