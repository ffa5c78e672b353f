import { ApiProblem } from '#lib/api/problem.ts';
import { type ImagesPage, readQuery } from '#lib/images/filters.ts';

import { askImages } from './images.ts';
import { chosenTask } from './ran-tasks.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params, url, parent, fetch, depends }) => {
  depends('app:images');
  const ids = { project_id: Number(params.project_id), dataset_id: Number(params.dataset_id) };
  const { ran } = await parent();
  const task = chosenTask(url.searchParams.get('task'), ran.tasks, ran.first);
  const query = readQuery(url.searchParams);
  const options = { fetch, exact: true };
  try {
    let images: ImagesPage = await askImages(ids, task?.id, query, options);
    // a page past the end, after images were removed
    if (images.items.length === 0 && images.total_count > 0 && query.page > 1) {
      query.page = 1;
      images = await askImages(ids, task?.id, query, options);
    }
    return { task, query, images, problem: undefined };
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status !== 422) throw error;
    return { task, query, images: undefined, problem: error.message };
  }
};
