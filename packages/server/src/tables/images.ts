/** Which images are meant, what is known of each, and which of them a person can read. */
import { type Dataset, type Image, plain, type TableProblem, type TableQuery } from '@service/contract';
import { placeInPlate } from '@service/contract/ome';

import type { Database } from '../db/index.ts';
import type { Folders } from '../folders/index.ts';
import { refuse } from '../http/index.ts';
import { imagesByUrl, ofGeneration, sliceOfImages, spreadOfImages } from '../projects/index.ts';
import type { AskedImage, Value } from './ask.ts';

const MOST_IMAGES = 50_000;

const TOO_MANY = `These are more than ${MOST_IMAGES} images. Choose a plate, or filter the images.`;
const NO_IMAGES = 'No image of this dataset passes these filters.';
const NO_ACCESS = "You don't have access to the folder of this image. Ask the owner of the project.";
const IN_OBJECT_STORE = 'Tables are read from files. This image is in an object store.';

export type ImageChoice = Pick<TableQuery, 'zarr_urls' | 'attribute_filters' | 'type_filters' | 'images'>;

/** Enough to meet what a task did to a part of the images, and read in an instant. */
const FEW_IMAGES = 24;

export interface ChosenImages {
  images: AskedImage[];
  /** The plates that they lie in. */
  plates: AskedImage[];
  problems: TableProblem[];
}

async function listImages(db: Database, dataset: Dataset, choice: ImageChoice): Promise<Image[]> {
  const { zarr_urls: urls, attribute_filters, type_filters, images: which } = choice;
  if (urls) {
    if (urls.length > MOST_IMAGES) throw refuse(422, TOO_MANY);
    const found = await imagesByUrl(db, dataset.id, urls);
    const unknown = urls.find((url) => !found.has(url));
    if (unknown !== undefined) throw refuse(404, `There is no image ${unknown.slice(0, 500)} in the dataset.`);
    return [...found.values()];
  }
  const slice = { offset: 0, limit: MOST_IMAGES + 1, total: MOST_IMAGES + 1 };
  const images = await sliceOfImages(db, dataset.id, { attribute_filters, type_filters }, { by: 'position' }, slice);
  if (images.length > MOST_IMAGES) throw refuse(422, TOO_MANY);
  return which === 'all' ? images : ofGeneration(images, which);
}

/** Row, column and image of a well, where the address tells. */
function placeOf(zarrUrl: string): Pick<AskedImage, 'plate' | 'place'> {
  const found = placeInPlate(zarrUrl);
  if (!found) return { plate: null, place: null };
  const image = zarrUrl.split('/').findLast((part) => part !== '')!;
  return { plate: found.plate, place: `${found.row}/${found.column}/${image}` };
}

function askedImage({ zarr_url, attributes }: Image): AskedImage {
  const values = Object.entries(attributes).map(([key, value]): [string, Value] => [key, plain(value) as Value]);
  return { zarr_url, attributes: Object.fromEntries(values), ...placeOf(zarr_url) };
}

/** Its name is the one that its images have, where they agree. */
function platesOf(images: readonly AskedImage[]): AskedImage[] {
  const names = new Map<string, Value | undefined>();
  for (const { plate, attributes } of images) if (plate !== null) names.set(plate, attributes['plate']);
  return Array.from(names, ([zarr_url, name]) => ({
    zarr_url,
    attributes: { plate: name ?? zarr_url.split('/').at(-1)! },
    plate: null,
    place: null,
  }));
}

function problemOf(folders: Folders, zarr_url: string): TableProblem | undefined {
  const text = zarr_url.startsWith('s3://') ? IN_OBJECT_STORE : folders.cover(zarr_url) ? undefined : NO_ACCESS;
  return text === undefined ? undefined : { zarr_url, table: null, kind: 'no_access', text };
}

/** A few images from all over the dataset, those that a person can read; if there is none of these, it is a refusal. */
export async function sampleImages(db: Database, dataset: Dataset, folders: Folders): Promise<string[]> {
  const listed = await spreadOfImages(db, dataset.id, FEW_IMAGES);
  const readable = listed.filter((url) => problemOf(folders, url) === undefined);
  if (readable.length > 0 || listed.length === 0) return readable;
  const { text } = problemOf(folders, listed[0]!)!;
  throw refuse(text === NO_ACCESS ? 403 : 422, text);
}

/** Images that cannot be read are named; if no other is left, it is a refusal. */
export async function chooseImages(
  db: Database,
  dataset: Dataset,
  choice: ImageChoice,
  folders: Folders,
): Promise<ChosenImages> {
  const listed = await listImages(db, dataset, choice);
  if (listed.length === 0) throw refuse(422, NO_IMAGES);
  const problems: TableProblem[] = [];
  const images: AskedImage[] = [];
  for (const image of listed) {
    const problem = problemOf(folders, image.zarr_url);
    if (problem) problems.push(problem);
    else images.push(askedImage(image));
  }
  if (images.length === 0) throw refuse(problems[0]!.text === NO_ACCESS ? 403 : 422, problems[0]!.text);
  return { images, plates: platesOf(images).filter(({ zarr_url }) => folders.cover(zarr_url)), problems };
}
