/** The operations on datasets and images. */
import { z } from 'zod';

import { operation } from '../operation.ts';
import { pageOf, pageQuery } from '../pagination.ts';
import { answer, boolean, choice, id, text } from '../wire/scalars.ts';
import {
  Dataset,
  DatasetCreate,
  DatasetExpanded,
  DatasetExport,
  DatasetImport,
  DatasetUpdate,
  Image,
  ImageBulk,
  ImageCreate,
  ImageFilters,
  ImagePage,
  ImageQuery,
  ImageUpdate,
  NonProcessedQuery,
} from './dataset.ts';

const inProject = z.object({ project_id: id() });
const ofDataset = z.object({ project_id: id(), dataset_id: id() });
const UNKNOWN = { 404: 'There is no such object.' };
const all = '/api/v2/project/{project_id}/dataset/';
const one = `${all}{dataset_id}/`;

export const listAllDatasets = operation({
  id: 'list_all_datasets',
  method: 'GET',
  path: '/api/v2/dataset/',
  access: 'reader',
  tag: 'datasets',
  summary: 'Datasets of all your projects',
  query: z.object({
    project_name: text().optional(),
    dataset_name: text().optional(),
    only_owned: boolean().default(false),
    ...pageQuery,
  }),
  paginated: true,
  answer: [200, pageOf(DatasetExpanded)],
});

export const listDatasets = operation({
  id: 'list_datasets',
  method: 'GET',
  path: all,
  access: 'reader',
  tag: 'datasets',
  summary: 'The datasets of a project',
  params: inProject,
  answer: [200, z.array(Dataset)],
  refusals: UNKNOWN,
});

export const createDataset = operation({
  id: 'create_dataset',
  method: 'POST',
  path: all,
  access: 'member',
  tag: 'datasets',
  summary: 'Creates an empty dataset',
  params: inProject,
  body: DatasetCreate,
  answer: [201, Dataset],
  refusals: UNKNOWN,
});

export const importDataset = operation({
  id: 'import_dataset',
  method: 'POST',
  path: `${all}import/`,
  access: 'member',
  tag: 'datasets',
  summary: 'Creates a dataset with images',
  params: inProject,
  body: DatasetImport,
  bodySize: 'images',
  answer: [201, Dataset],
  refusals: UNKNOWN,
});

export const getDataset = operation({
  id: 'get_dataset',
  method: 'GET',
  path: one,
  access: 'reader',
  tag: 'datasets',
  summary: 'One dataset',
  params: ofDataset,
  answer: [200, Dataset],
  refusals: UNKNOWN,
});

export const updateDataset = operation({
  id: 'update_dataset',
  method: 'PATCH',
  path: one,
  access: 'member',
  tag: 'datasets',
  summary: 'Renames a dataset',
  params: ofDataset,
  body: DatasetUpdate,
  answer: [200, Dataset],
  refusals: UNKNOWN,
});

export const deleteDataset = operation({
  id: 'delete_dataset',
  method: 'DELETE',
  path: one,
  access: 'member',
  tag: 'datasets',
  summary: 'Deletes a dataset; files stay',
  params: ofDataset,
  answer: [204],
  refusals: UNKNOWN,
});

const star = (what: 'star' | 'unstar') =>
  operation({
    id: `${what}_dataset`,
    method: 'POST',
    path: `${one}${what}/`,
    access: 'member',
    tag: 'datasets',
    summary: what === 'star' ? 'Stars a dataset for everybody in the project' : 'Removes the star',
    params: ofDataset,
    answer: [200],
    refusals: UNKNOWN,
  });
export const starDataset = star('star');
export const unstarDataset = star('unstar');

export const exportDataset = operation({
  id: 'export_dataset',
  file: true,
  method: 'GET',
  path: `${one}export/`,
  access: 'reader',
  tag: 'datasets',
  summary: 'A dataset with all its images, as import takes it',
  params: ofDataset,
  answer: [200, DatasetExport],
  refusals: UNKNOWN,
});

export const createImage = operation({
  id: 'create_image',
  method: 'POST',
  path: `${one}images/`,
  access: 'member',
  tag: 'images',
  summary: 'Adds an image to the end of the list',
  params: ofDataset,
  body: ImageCreate,
  answer: [201],
  refusals: UNKNOWN,
});

export const updateImage = operation({
  id: 'update_image',
  method: 'PATCH',
  path: `${one}images/`,
  access: 'member',
  tag: 'images',
  summary: 'Replaces attributes or types of an image',
  params: ofDataset,
  body: ImageUpdate,
  answer: [200, Image],
  refusals: UNKNOWN,
});

export const deleteImage = operation({
  id: 'delete_image',
  method: 'DELETE',
  path: `${one}images/`,
  access: 'member',
  tag: 'images',
  summary: 'Removes an image from the list; its files stay',
  params: ofDataset,
  query: z.object({ zarr_url: text() }),
  answer: [204],
  refusals: UNKNOWN,
});

export const queryImages = operation({
  id: 'query_images',
  method: 'POST',
  path: `${one}images/query/`,
  access: 'reader',
  scope: 'read',
  tag: 'images',
  summary: 'A page of the images that pass the filters',
  description:
    '`sort` is `zarr_url` or `attribute:<key>`, with `-` in front for descending; the default is the order of the list.',
  params: ofDataset,
  query: z.object({ ...pageQuery, sort: text().optional() }),
  body: ImageQuery,
  optionalBody: true,
  paginated: true,
  answer: [200, ImagePage],
  refusals: UNKNOWN,
});

const uniqueTypesQuery = z.object({ workflowtask_id: id() });

export const verifyUniqueTypes = operation({
  id: 'verify_unique_types',
  method: 'POST',
  path: `${one}images/verify-unique-types/`,
  access: 'reader',
  scope: 'read',
  tag: 'images',
  summary: 'Types that some of the images have and others have not',
  params: ofDataset,
  query: uniqueTypesQuery,
  body: ImageFilters,
  optionalBody: true,
  answer: [200, z.array(answer.text())],
  refusals: UNKNOWN,
});

export const verifyUniqueTypesByGet = operation({
  id: 'verify_unique_types_by_get',
  method: 'GET',
  path: `${one}images/verify-unique-types/`,
  access: 'reader',
  tag: 'images',
  summary: 'Types that some of all images have and others have not',
  params: ofDataset,
  query: uniqueTypesQuery,
  answer: [200, z.array(answer.text())],
  refusals: UNKNOWN,
});

export const nonProcessedImages = operation({
  id: 'non_processed_images',
  method: 'POST',
  path: `${one}images/non-processed/`,
  access: 'reader',
  scope: 'read',
  tag: 'images',
  summary: 'Images that the preceding task has not processed',
  params: ofDataset,
  query: z.object({ workflow_id: id(), workflowtask_id: id() }),
  body: NonProcessedQuery,
  answer: [200, z.array(answer.text())],
  refusals: UNKNOWN,
});

export const changeImages = operation({
  id: 'change_images',
  method: 'POST',
  path: `${one}images/bulk/`,
  access: 'member',
  tag: 'images',
  summary: 'Changes or removes many images at once',
  params: ofDataset,
  body: ImageBulk,
  bodySize: 'images',
  answer: [200, z.object({ changed: answer.integer() })],
  refusals: UNKNOWN,
});

export const exportImages = operation({
  id: 'export_images',
  file: true,
  method: 'POST',
  path: `${one}images/export/`,
  access: 'reader',
  scope: 'read',
  tag: 'images',
  summary: 'The images that pass the filters, as a file',
  params: ofDataset,
  query: z.object({ format: choice(['csv', 'json']).default('json') }),
  body: ImageFilters,
  optionalBody: true,
  answer: [200],
  refusals: UNKNOWN,
});
