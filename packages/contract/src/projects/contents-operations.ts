/** The operation that tells what arguments of tasks may name. */
import { z } from 'zod';

import { operation } from '../operation.ts';
import { id } from '../wire/scalars.ts';
import { DatasetContents } from './contents.ts';

export const getDatasetContents = operation({
  id: 'get_dataset_contents',
  method: 'GET',
  path: '/api/v2/project/{project_id}/dataset/{dataset_id}/contents/',
  access: 'reader',
  tag: 'datasets',
  summary: 'Names of channels, label images and tables that the images of a dataset have',
  description:
    'Read from the metadata of up to 24 images, spread over the dataset: a name that only a few images have may be missing. ' +
    'Images that cannot be read are left out, and `problem` says why of one of them.',
  params: z.object({ project_id: id(), dataset_id: id() }),
  answer: [200, DatasetContents],
  file: true,
  refusals: {
    404: 'There is no such project or dataset.',
    503: 'Too many tables are being read. Try again in a few seconds.',
  },
});
