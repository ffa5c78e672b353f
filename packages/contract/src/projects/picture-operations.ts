/** The operations that show images as pictures. */
import { z } from 'zod';

import { operation } from '../operation.ts';
import { zarrUrl } from '../wire/paths.ts';
import { found, reader, type Reading, wrong } from '../wire/problem.ts';
import { choice, id, integer, number, readInteger, trimmedText } from '../wire/scalars.ts';
import { PlatePictureInfo } from './picture.ts';

const ofDataset = z.object({ project_id: id(), dataset_id: id() });
const one = '/api/v2/project/{project_id}/dataset/{dataset_id}/';
const PNG = 'image/png';
const REFUSALS = {
  404: 'There is no such project, dataset or image.',
  422: 'There is no picture of this; the text names the file and says why.',
  503: 'Too many pictures were requested. Try again in a few seconds.',
};

const sizeBetween = (least: number, most: number) =>
  reader(
    (input): Reading<number> => {
      const reading = readInteger(input);
      if ('problem' in reading) return reading;
      if (reading.value < least) return wrong('greater_than_equal', `Must be at least ${least}.`);
      return reading.value > most ? wrong('less_than_equal', `Must be at most ${most}.`) : reading;
    },
    { type: 'integer', minimum: least, maximum: most },
  );

function readPlaneChoice(input: unknown): Reading<number | 'max'> {
  if (input === 'max') return found('max');
  const reading = readInteger(input);
  const isPlane = 'value' in reading && reading.value >= 0 && Number.isSafeInteger(reading.value);
  return isPlane ? reading : wrong('value_error', 'Value error, Choose the number of a plane, counted from 0, or max.');
}

const view = {
  channel: integer({ least: 0 }).optional(),
  low: number().optional(),
  high: number().optional(),
  z: reader(readPlaneChoice, { anyOf: [{ type: 'integer', minimum: 0 }, { const: 'max' }] }).optional(),
  t: integer({ least: 0 }).default(0),
};

const ofPlate = {
  plate: trimmedText(),
  acquisition: integer().optional(),
  images: choice(['newest', 'original']).default('newest'),
};

const HEADERS =
  'With `channel` it is grey, without loss: `x-picture-low` and `x-picture-high` say which values are black and white, ' +
  '`x-picture-range` the lowest and highest value. Without `channel`, the visible channels are drawn over each other in their colours. ' +
  '`z` is the number of a plane or `max`; the middle one is the default.';

const LABELS =
  '`labels` outlines the objects of a label image; with `layer=labels` the picture holds their numbers instead, as ' +
  'red + 256 × green + 65 536 × blue, and is see-through where there is no object.';

const labelled = {
  labels: trimmedText().optional(),
  layer: choice(['picture', 'labels']).default('picture'),
};

const OBJECT =
  '`object` draws only what is around one object of `labels`, and outlines it alone. `size` is the side of the square, and ' +
  '`x-picture-region` says where it is in the image: left, top, width and height in pixels of its full size; ' +
  '`x-picture-object` says the same of the object. `square` is the side of that square in pixels of the image, so that objects ' +
  'of several images can be compared; left out, it is what most objects of the image need. An object is never cut off.';

export const getPicture = operation({
  id: 'get_picture',
  method: 'GET',
  path: `${one}picture/`,
  access: 'reader',
  tag: 'pictures',
  summary: 'A picture of an image',
  description: `${HEADERS} ${LABELS} ${OBJECT}`,
  params: ofDataset,
  query: z.object({
    zarr_url: zarrUrl(),
    size: sizeBetween(32, 1024).default(256),
    ...labelled,
    object: integer({ least: 1 }).optional(),
    square: sizeBetween(16, 2048).optional(),
    ...view,
  }),
  answer: [200],
  mediaType: PNG,
  file: true,
  refusals: REFUSALS,
});

export const getPlatePicture = operation({
  id: 'get_plate_picture',
  method: 'GET',
  path: `${one}plate-picture/`,
  access: 'reader',
  tag: 'pictures',
  summary: 'A picture of a whole plate, or a tile of one',
  description:
    `${HEADERS} Every well is a square cell (\`x-picture-cell-size\`), its fields placed by their position where it is known. ` +
    'Wells that cannot be read stay empty and are named by `x-picture-bad-wells`. `size` is the largest side. For zooming, ' +
    '`level`, `row` and `column` ask for one tile; the levels are listed by the information about the plate. `well` asks for ' +
    `one well, whose side is \`size\`. ${LABELS} ` +
    '`images` chooses between the newest images of a well and those that they were made from.',
  params: ofDataset,
  query: z.object({
    ...ofPlate,
    size: sizeBetween(32, 4096).default(1024),
    level: integer({ least: 0 }).optional(),
    row: integer({ least: 0 }).default(0),
    column: integer({ least: 0 }).default(0),
    well: trimmedText().optional(),
    ...labelled,
    ...view,
  }),
  answer: [200],
  mediaType: PNG,
  file: true,
  refusals: REFUSALS,
});

export const getPlatePictureInfo = operation({
  id: 'get_plate_picture_info',
  method: 'GET',
  path: `${one}plate-picture/info/`,
  access: 'reader',
  tag: 'pictures',
  summary: 'Wells, fields, channels and contrast of the picture of a plate',
  params: ofDataset,
  query: z.object(ofPlate),
  answer: [200, PlatePictureInfo],
  refusals: REFUSALS,
});
