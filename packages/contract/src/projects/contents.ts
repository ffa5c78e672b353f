/** What the images of a dataset hold, by name: what arguments of tasks may name. */
import { z } from 'zod';

import { answer } from '../wire/scalars.ts';

export const DatasetContents = z
  .object({
    /** So many images were looked at, spread over the dataset. */
    num_images: answer.integer(),
    channels: z.array(z.object({ label: answer.text().nullable(), wavelength_id: answer.text().nullable() })),
    /** Names of label images. */
    labels: z.array(answer.text()),
    /** The type as it is written: feature_table, roi_table, … */
    tables: z.array(z.object({ name: answer.text(), type: answer.text().nullable() })),
    /** Why nothing is known of some of the images. */
    problem: answer.text().nullable(),
  })
  .meta({ id: 'DatasetContents' });

export type DatasetContents = z.output<typeof DatasetContents>;
