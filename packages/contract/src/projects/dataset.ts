/** Datasets and their images. */
import { z } from 'zod';

import { pageOf } from '../pagination.ts';
import { attributeFilters, attributeMap, flagMap, jsonAnswer } from '../wire/json.ts';
import { mapOf } from '../wire/maps.ts';
import { NumberAsWritten, plain } from '../wire/numbers.ts';
import { projectDir, readZarrUrl, subfolder, zarrUrl } from '../wire/paths.ts';
import { addProblem } from '../wire/problem.ts';
import { answer, boolean, name, text, trimmedText } from '../wire/scalars.ts';
import { Project } from './project.ts';

const dataset = {
  id: answer.integer(),
  name: answer.text(),
  project_id: answer.integer(),
  project: Project,
  timestamp_created: answer.time(),
  zarr_dir: answer.text(),
  is_starred: answer.boolean(),
  image_count: answer.integer(),
  num_plates: answer.integer(),
};

export const Dataset = z.object(dataset).meta({ id: 'DatasetRead' });
export type Dataset = z.output<typeof Dataset>;

export const DatasetExpanded = z.object({ ...dataset, owner_email: answer.text() }).meta({ id: 'DatasetReadExpanded' });

export const DatasetCreate = z
  .strictObject({
    name: name(),
    project_dir: projectDir().nullable().default(null),
    zarr_subfolder: subfolder().nullable().default(null),
  })
  .superRefine((body, ctx) => {
    if (body.zarr_subfolder !== null && body.project_dir === null) {
      addProblem(ctx, {
        type: 'value_error',
        message: 'Value error, Give project_dir together with zarr_subfolder.',
      });
    }
  })
  .meta({ id: 'DatasetCreate' });
export type DatasetCreate = z.output<typeof DatasetCreate>;

export const DatasetUpdate = z.strictObject({ name: name().optional() }).meta({ id: 'DatasetUpdate' });

export const Image = z
  .object({
    zarr_url: answer.text(),
    origin: answer.text().nullable(),
    attributes: z.record(z.string(), jsonAnswer.scalar()),
    types: jsonAnswer.flags(),
  })
  .meta({ id: 'SingleImage' });
export type Image = z.output<typeof Image>;

export const ImageCreate = z
  .object({
    zarr_url: zarrUrl(),
    origin: zarrUrl().nullable().default(null),
    attributes: attributeMap().default({}),
    types: flagMap().default({}),
  })
  .meta({ id: 'SingleImageCreate' });
export type ImageCreate = z.output<typeof ImageCreate>;

export const ImageUpdate = z
  .object({ zarr_url: zarrUrl(), attributes: attributeMap().optional(), types: flagMap().nullable().optional() })
  .meta({ id: 'SingleImageUpdate' });
export type ImageUpdate = z.output<typeof ImageUpdate>;

/** What is wrong with where the images of a dataset lie; each is strictly inside, and there once. */
export function imagePlaceProblem(zarrDir: string, urls: string[]): string | undefined {
  const seen = new Set<string>();
  // both are normalised, so that a plain comparison is one by component
  const inside = zarrDir.endsWith('/') ? zarrDir : `${zarrDir}/`;
  for (const url of urls) {
    if (!url.startsWith(inside) || url.length === inside.length) return `The image ${url} must be inside ${zarrDir}.`;
    if (seen.has(url)) return `The image ${url} is listed twice.`;
    seen.add(url);
  }
  return undefined;
}

const isPlainText = (text: string) => !text.includes('\u0000') && text.isWellFormed();
const isPlainUrl = (value: unknown) => {
  const reading = readZarrUrl(value);
  return 'value' in reading && reading.value === value;
};
const isPlainScalar = (value: unknown) =>
  typeof value === 'string' ? isPlainText(value) : typeof value === 'boolean' || Number.isFinite(plain(value));

function isPlainMap(map: unknown, isPlain: (value: unknown) => boolean): boolean {
  if (typeof map !== 'object' || map === null || Array.isArray(map) || map instanceof NumberAsWritten) return false;
  for (const key in map) {
    if (key === '' || key.trim() !== key || !isPlainText(key)) return false;
    if (!isPlain((map as Record<string, unknown>)[key])) return false;
  }
  return true;
}

/**
 * An image that needs no change to be stored, as nearly all are: a hundred thousand of them are taken as they came, without
 * a copy of each. Undefined for one that has to be read closely.
 */
function plainImage(item: unknown): ImageCreate | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const { zarr_url, origin = null, attributes = {}, types = {} } = item as Partial<ImageCreate>;
  if (!isPlainUrl(zarr_url) || (origin !== null && !isPlainUrl(origin))) return undefined;
  if (!isPlainMap(attributes, isPlainScalar) || !isPlainMap(types, (value) => typeof value === 'boolean'))
    return undefined;
  return { zarr_url: zarr_url!, origin, attributes, types };
}

const { $schema: _, ...imageSchema } = z.toJSONSchema(ImageCreate, { io: 'input', unrepresentable: 'any' });

/** So many images that are wrong are told; who sends them repairs the program, not each image. */
const MOST_WRONG = 100;

/** A list of images, long or short. */
const imageList = () =>
  z
    .array(z.unknown())
    .transform((items, ctx): ImageCreate[] => {
      let wrong = 0;
      const images: ImageCreate[] = [];
      for (let index = 0; index < items.length && wrong < MOST_WRONG; index++) {
        const plainOne = plainImage(items[index]);
        const read = plainOne
          ? { success: true as const, data: plainOne }
          : ImageCreate.safeParse(items[index], { reportInput: true });
        if (read.success) {
          images.push(read.data);
          continue;
        }
        wrong++;
        for (const issue of read.error.issues) {
          ctx.issues.push({ ...issue, path: [index, ...issue.path] } as z.core.$ZodRawIssue);
        }
      }
      return wrong > 0 ? z.NEVER : images;
    })
    .meta({ type: 'array', items: imageSchema });

export const DatasetImport = z
  .object({ name: name(), zarr_dir: zarrUrl(), images: imageList().default([]) })
  .superRefine((body, ctx) => {
    const problem = imagePlaceProblem(
      body.zarr_dir,
      body.images.map((image) => image.zarr_url),
    );
    if (problem !== undefined) {
      addProblem(ctx, { type: 'value_error', message: `Value error, ${problem}` });
    }
  })
  .meta({ id: 'DatasetImport' });
export type DatasetImport = z.output<typeof DatasetImport>;

export const DatasetExport = z
  .object({ name: answer.text(), zarr_dir: answer.text(), images: z.array(Image) })
  .meta({ id: 'DatasetExport' });

const filters = {
  type_filters: flagMap().default({}),
  attribute_filters: attributeFilters().default({}),
};

export const ImageFilters = z.object(filters).meta({ id: 'ImageFilters' });
export type ImageFilters = z.output<typeof ImageFilters>;

export const ImageQuery = z
  .object({ zarr_url: text().nullable().default(null), ...filters })
  .meta({ id: 'ImageQuery' });
export type ImageQuery = z.output<typeof ImageQuery>;

/** For images that the preceding task did not process. Its keys are taken as they are. */
export const NonProcessedQuery = z
  .object({
    attribute_filters: attributeFilters().default({}),
    type_filters: mapOf(boolean()).default({}),
  })
  .meta({ id: 'NonProcessedImagesPayload' });

export const ImagePage = pageOf(Image)
  .extend({ attributes: z.record(z.string(), z.array(jsonAnswer.scalar())), types: z.array(answer.text()) })
  .meta({ id: 'ImagePage' });
export type ImagePage = z.output<typeof ImagePage>;

/** Changes many images at once: those named, or those that pass the filters. */
export const ImageBulk = z
  .strictObject({
    zarr_urls: z.array(zarrUrl()).optional(),
    type_filters: flagMap().optional(),
    attribute_filters: attributeFilters().optional(),
    set_attributes: attributeMap().default({}),
    unset_attributes: z.array(trimmedText()).default([]),
    set_types: flagMap().default({}),
    remove: boolean().default(false),
  })
  .superRefine((body, ctx) => {
    const changes =
      Object.keys(body.set_attributes).length + body.unset_attributes.length + Object.keys(body.set_types).length;
    const chosen =
      body.zarr_urls !== undefined || body.type_filters !== undefined || body.attribute_filters !== undefined;
    const problem = !chosen
      ? 'Say which images: zarr_urls, type_filters or attribute_filters.'
      : body.remove === changes > 0
        ? 'Give either changes or remove.'
        : undefined;
    if (problem !== undefined) {
      addProblem(ctx, { type: 'value_error', message: `Value error, ${problem}` });
    }
  })
  .meta({ id: 'ImageBulk' });
export type ImageBulk = z.output<typeof ImageBulk>;
