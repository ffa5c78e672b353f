/** Where an image is: its plate with all wells, the images of its well, and the ways from one to the next. */
import type { PlatePictureInfo, Scalar } from '@service/contract';

import { call, type CallOptions, type DatasetIds } from '../api/client.ts';
import { createAnswer } from '../images/answer.svelte.ts';
import { cellName, layOut, type Plate, readWell, type Well } from '../images/plates/plate.ts';
import type { Point, Size } from '../pixels/camera.ts';
import { fieldsOf, kindsOf, likeIn, type WellImage } from './well-images.ts';

interface Question {
  ids: DatasetIds;
  /** Undefined where the image belongs to no plate. */
  plate: Scalar | undefined;
  well: string | undefined;
}

const MOST_IMAGES = 200;

const askWell = ({ ids, plate, well }: Question, options: CallOptions = {}) =>
  call(
    'projects.queryImages',
    {
      params: ids,
      query: { page: 1, page_size: MOST_IMAGES },
      body: { attribute_filters: { plate: [plate!], well: [well!] } },
    },
    options,
  );

/** Rows from top to bottom, each from left to right. */
const inReadingOrder = (one: Well, other: Well) => one.row - other.row || one.column - other.column;

/** The name of the well at a point of the picture of a plate. */
export function wellAt({ rows, columns, wells }: PlatePictureInfo, size: Size, { x, y }: Point): string {
  const [row, column] = [Math.floor((y / size.height) * rows.length), Math.floor((x / size.width) * columns.length)];
  const well = wells.find((one) => one.row === row && one.column === column);
  return well?.name ?? `${rows[row]}${columns[column]}`;
}

export type Where = ReturnType<typeof createWhere>;

export function createWhere(
  question: () => { ids: DatasetIds; image: WellImage | undefined; plate: Scalar | undefined },
) {
  const plateOf = () => question().plate ?? question().image?.attributes['plate'];
  const wellOf = () => question().image?.attributes['well'];

  const wells = createAnswer(
    () => {
      const plate = plateOf();
      return plate === undefined ? undefined : { ids: question().ids, plate };
    },
    ({ ids, plate }, options) =>
      call(
        'jobs.countImageGroups',
        {
          params: { project_id: ids.project_id },
          query: { dataset_id: ids.dataset_id },
          body: { attribute_filters: { plate: [plate] }, by: ['well'] },
        },
        options,
      ),
  );
  let version = $state(0);
  const info = createAnswer(
    () => {
      const plate = plateOf();
      return typeof plate === 'string' ? { ids: question().ids, plate, version } : undefined;
    },
    ({ ids, plate }, options): Promise<PlatePictureInfo> =>
      call('projects.getPlatePictureInfo', { params: ids, query: { plate } }, options),
  );
  const images = createAnswer(
    () => {
      const [plate, well] = [plateOf(), wellOf()];
      return plate === undefined || typeof well !== 'string' ? undefined : { ids: question().ids, plate, well };
    },
    (asked, options) => askWell(asked, options),
  );

  const plate = $derived<Plate | undefined>(wells.value && layOut(wells.value.groups));
  const all = $derived(plate ? [...plate.wells.values()].sort(inReadingOrder) : []);
  const here = $derived.by(() => {
    const cell = readWell(wellOf());
    return cell && plate?.wells.get(cellName(cell));
  });
  const shown = $derived(question().image?.zarr_url ?? '');
  const ofWell = $derived<WellImage[]>(images.value?.items ?? []);
  const fields = $derived(fieldsOf(ofWell, shown));
  const field = $derived(fields.findIndex(({ zarr_url }) => zarr_url === shown));
  let known: Record<string, Promise<WellImage | undefined>> = {};

  /** The image of a well that is like the one that is shown. */
  function imageOf(well: Well): Promise<WellImage | undefined> {
    const [asked, image] = [{ ids: question().ids, plate: plateOf(), well: well.values[0] }, question().image];
    const key = `${well.name} ${shown}`;
    const before = known[key];
    if (before) return before;
    const found = askWell(asked).then(({ items }) => likeIn(items, image, Math.max(0, field)));
    known = { ...known, [key]: found };
    found.catch(() => delete known[key]);
    return found;
  }

  return {
    /** Asks again what the files of the plate are like. */
    refresh: () => void version++,
    get name() {
      return plateOf();
    },
    get plate() {
      return plate;
    },
    get well() {
      return here;
    },
    get info() {
      return info.value;
    },
    get infoProblem() {
      return info.problem;
    },
    get fields() {
      return fields;
    },
    get field() {
      return field;
    },
    get kinds() {
      return kindsOf(ofWell, shown);
    },
    imageOf,
    /** The next well, over the ends of rows; undefined at the ends of the plate. */
    beside(step: 1 | -1): Well | undefined {
      return here ? all[all.indexOf(here) + step] : undefined;
    },
    fieldBeside: (step: 1 | -1): WellImage | undefined => fields[field + step],
  };
}
