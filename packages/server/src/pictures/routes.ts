/** Pictures on the wire. */
import type { FastifyReply } from 'fastify';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { type Dataset, type Image, type PlatePictureInfo, projects, type User } from '@service/contract';

import { guarded, ignored } from '../guard.ts';
import type { Database } from '../db/index.ts';
import { type Folders, readableFolders, type ReadableFolder } from '../folders/index.ts';
import { type Api, createLine, refuse, untilGone } from '../http/index.ts';
import { findImage, openDataset, sliceOfImages, stateOfFiles } from '../projects/index.ts';
import { openKept, sendKept } from '../studio/keep.ts';
import type { Asker } from '../studio/maker.ts';
import type { Ask } from './ask.ts';
import { BUSY, type PictureMaker } from './maker.ts';
import { choosePlate, type ChosenPlate, type PlateChoice } from './plates.ts';
import { beingWritten, type Contrast, findContrast, keepContrast } from './store.ts';
import type { PlateFacts, PlateLimits } from './studio/plate-facts.ts';

export interface PictureParts {
  db: Database;
  maker: PictureMaker;
  foldersOf(user: User): Promise<ReadableFolder[]>;
}

const MOST_IMAGES_OF_PLATE = 50_000;
const LISTED_MS = 2000;
const MOST_LISTED = 50;
/** The list of a large plate takes the thread that answers everybody a tenth of a second, and some ten megabytes. */
const PLATES_AT_ONCE = { slots: 2, longest: 2000, longestOfOne: 500, busy: BUSY };
/** What is known about the largest plates takes a third of it. */
const LARGEST_FACTS = 16 * 2 ** 20;
/** So many wells say enough about the contrast of a plate. */
const ENOUGH_WELLS = 24;

const NO_ACCESS = 'You have no access to the folder of this image. Ask the owner of the project.';
const IN_OBJECT_STORE = 'Pictures are made of files. This image is in an object store.';
interface PlateQuery extends PlateChoice {
  plate: string;
}

const NO_LABELS = 'Name the label image whose objects are wanted: labels=nuclei.';
const TOO_MUCH =
  'What is known about this plate takes more than 16 MiB. Its files may be damaged: look for very long names in their ' +
  'metadata. A dataset with fewer images of this plate can be shown.';
const NO_PLATE = 'No image of this dataset belongs to this plate and a well.';

function checkPlace(folders: Folders, paths: readonly string[]): void {
  if (paths.some((path) => path.startsWith('s3://'))) throw refuse(422, IN_OBJECT_STORE);
  if (paths.some((path) => !folders.cover(path))) throw refuse(403, NO_ACCESS);
}

type Listed = Promise<Image[]>;

export function pictureRoutes(api: Api, { db, maker, foldersOf }: PictureParts): void {
  const lists = new Map<string, Listed>();
  const line = createLine(PLATES_AT_ONCE);

  async function askerOf(dataset: Dataset, user: User, reply: FastifyReply): Promise<Asker> {
    const [list, state] = await Promise.all([foldersOf(user), stateOfFiles(db, dataset.id)]);
    return { person: user.id, folders: readableFolders(list), state, signal: untilGone(reply) };
  }

  async function listImages(dataset: Dataset, plate: string): Listed {
    const filters = { attribute_filters: { plate: [plate] }, type_filters: {} };
    const slice = { offset: 0, limit: MOST_IMAGES_OF_PLATE, total: MOST_IMAGES_OF_PLATE };
    return sliceOfImages(db, dataset.id, filters, { by: 'position' }, slice);
  }

  /** The tiles of a plate are asked for together. */
  function imagesOf(dataset: Dataset, plate: string, state: string): Listed {
    const key = `${dataset.id} ${state} ${plate}`;
    const before = lists.get(key);
    if (before) return before;
    const images = listImages(dataset, plate);
    const forget = () => {
      if (lists.get(key) === images) lists.delete(key);
    };
    images.catch(forget);
    lists.set(key, images);
    setTimeout(guarded(forget, ignored), LISTED_MS).unref();
    if (lists.size > MOST_LISTED) lists.delete(lists.keys().next().value!);
    return images;
  }

  const openPlate = (dataset: Dataset, query: PlateQuery, asker: Asker) =>
    line.take(asker.person, () => findPlate(dataset, query, asker), asker.signal);

  async function findPlate(dataset: Dataset, query: PlateQuery, { folders, state }: Asker) {
    const images = await imagesOf(dataset, query.plate, state);
    // a turn for everybody else in between
    await nextTurn();
    const plate = choosePlate(images, query);
    if (plate.wells.length === 0) throw refuse(422, NO_PLATE);
    checkPlace(
      folders,
      plate.wells.flatMap(({ images }) => images),
    );
    return plate;
  }

  async function readJson<T>(ask: Ask, asker: Asker): Promise<T> {
    const { kept, file } = await openKept(maker, ask, asker);
    try {
      if (kept.length > LARGEST_FACTS) throw refuse(422, TOO_MUCH);
      const read = async () => {
        const bytes = Buffer.alloc(kept.length);
        await file.read(bytes, 0, kept.length, 0);
        return JSON.parse(bytes.toString()) as T;
      };
      return await line.take(asker.person, read, asker.signal);
    } finally {
      await file.close();
    }
  }

  const plateOf = ({ path, wells }: ChosenPlate) => ({ path, wells });

  /** Of all channels: what was found once stays, unless there are more wells or other channels now. */
  async function contrastOf(dataset: Dataset, query: PlateQuery, plate: ChosenPlate, facts: PlateFacts, asker: Asker) {
    const { channels, wells } = facts;
    if (channels.every(({ told }) => told !== null)) return undefined;
    const variant = `${query.images} ${query.acquisition ?? plate.acquisitions[0]}`;
    const of = { dataset_id: dataset.id, plate: query.plate, variant };
    const before = await findContrast(db, of);
    const readable = wells.filter(({ fields }) => fields.length > 0).length;
    const isEnough = before && before.num_wells >= Math.min(ENOUGH_WELLS, readable);
    if (isEnough && before.limits.length === channels.length) return before;
    const found = await readJson<PlateLimits>({ kind: 'limits', plate: plateOf(plate) }, asker);
    const contrast: Contrast = { limits: found.limits, num_wells: found.wells };
    if (found.wells > 0) await keepContrast(db, of, contrast);
    return contrast;
  }

  async function factsOf(dataset: Dataset, query: PlateQuery, plate: ChosenPlate, asker: Asker) {
    const facts = await readJson<PlateFacts>({ kind: 'info', plate: plateOf(plate) }, asker);
    const contrast = await contrastOf(dataset, query, plate, facts, asker);
    const limits = facts.channels.map(({ told }, at) => told ?? contrast?.limits[at] ?? ([0, 1] as const));
    return { facts, limits };
  }

  api.serve(projects.getPicture, async ({ user, params, query, reply }) => {
    const dataset = await openDataset(db, user, params.project_id, params.dataset_id, 'r');
    const { zarr_url: path, size, labels, layer, object, square, channel, low, high, z, t } = query;
    if ((layer === 'labels' || object !== undefined) && labels === undefined) throw refuse(422, NO_LABELS);
    if (!(await findImage(db, dataset.id, path)))
      throw refuse(404, 'There is no image with this zarr_url in the dataset.');
    const asker = await askerOf(dataset, user, reply);
    checkPlace(asker.folders, [path]);
    const view = { labels, layer, channel, low, high, z, t };
    return sendKept(maker, { kind: 'image', path, size, object, square, ...view }, asker);
  });

  api.serve(projects.getPlatePicture, async ({ user, params, query, reply }) => {
    const dataset = await openDataset(db, user, params.project_id, params.dataset_id, 'r');
    const asker = await askerOf(dataset, user, reply);
    const plate = await openPlate(dataset, query, asker);
    const { size, level, row, column, well, labels, layer, channel, low, high, z, t } = query;
    if (layer === 'labels' && labels === undefined) throw refuse(422, NO_LABELS);
    const tile = level === undefined || well !== undefined ? undefined : { level, row, column };
    const isPart = tile !== undefined || well !== undefined;
    const needsLimits =
      layer === 'picture' && (isPart || channel === undefined) && (low === undefined || high === undefined);
    const limits = needsLimits ? (await factsOf(dataset, query, plate, asker)).limits : undefined;
    const ask: Ask = {
      kind: 'plate',
      plate: plateOf(plate),
      size: tile === undefined ? size : 0,
      tile,
      well,
      labels,
      layer,
      limits: limits?.map(([from, to]) => [from, to]),
      channel,
      low,
      high,
      z,
      t,
    };
    return sendKept(maker, ask, asker);
  });

  api.serve(projects.getPlatePictureInfo, async ({ user, params, query, reply }) => {
    const dataset = await openDataset(db, user, params.project_id, params.dataset_id, 'r');
    const asker = await askerOf(dataset, user, reply);
    const plate = await openPlate(dataset, query, asker);
    const [{ facts, limits }, busy] = await Promise.all([
      factsOf(dataset, query, plate, asker),
      beingWritten(db, dataset.id),
    ]);
    const { channels, wells, ...rest } = facts;
    return {
      plate: query.plate,
      ...rest,
      acquisitions: plate.acquisitions,
      wells: wells.map(({ state, fields, ...well }, at) => {
        const zarr_urls = plate.wells[at]!.images;
        return {
          ...well,
          state: zarr_urls.some((url) => busy.has(url)) ? ('being_written' as const) : state,
          zarr_urls,
          fields: fields.map(({ image, ...place }) => ({ zarr_url: zarr_urls[image]!, ...place })),
        };
      }),
      channels: channels.map(({ told, ...channel }, at) => ({
        ...channel,
        low: limits[at]![0],
        high: limits[at]![1],
        limits_from: told === null ? ('pixels' as const) : ('file' as const),
      })),
    } satisfies PlatePictureInfo;
  });
}
