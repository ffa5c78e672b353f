/** Datasets and images on the wire. */
import { projects } from '@service/contract';

import type { Database } from '../../db/index.ts';
import { packBulk, packImport } from '../../engine/image-rows.ts';
import type { Api } from '../../http/index.ts';
import * as datasets from '../datasets.ts';
import * as checks from '../image-checks.ts';
import * as images from '../images.ts';
import * as store from '../store/datasets.ts';

/** Imports and exports of large datasets take their time; all else has a limit. */
export function datasetRoutes(api: Api, { db, unlimited }: { db: Database; unlimited: Database }): void {
  api.serve(projects.listAllDatasets, async ({ user, query }) => {
    const { total, items } = await store.pageOfDatasets(db, user.id, query, query);
    return { current_page: query.page, page_size: query.page_size ?? total, total_count: total, items };
  });
  api.serve(projects.listDatasets, ({ user, params }) => datasets.listDatasets(db, user, params.project_id));
  api.serve(projects.createDataset, ({ user, params, body }) =>
    datasets.createDataset(db, user, params.project_id, body),
  );
  api.servePacked(projects.importDataset, packImport, ({ user, params, body }) =>
    datasets.importDataset(unlimited, user, params.project_id, body),
  );

  const open = datasets.openDataset;
  api.serve(projects.getDataset, ({ user, params }) => open(db, user, params.project_id, params.dataset_id, 'r'));
  api.serve(projects.updateDataset, async ({ user, params, body }) =>
    datasets.updateDataset(db, await open(db, user, params.project_id, params.dataset_id, 'rw'), body),
  );
  api.serve(projects.deleteDataset, async ({ user, by, params }) =>
    datasets.deleteDataset(db, by, await open(db, user, params.project_id, params.dataset_id, 'rw')),
  );
  api.serve(projects.starDataset, async ({ user, params }) => {
    await datasets.updateDataset(db, await open(db, user, params.project_id, params.dataset_id, 'rw'), {
      is_starred: true,
    });
  });
  api.serve(projects.unstarDataset, async ({ user, params }) => {
    await datasets.updateDataset(db, await open(db, user, params.project_id, params.dataset_id, 'rw'), {
      is_starred: false,
    });
  });
  api.serve(projects.exportDataset, async ({ user, params }) =>
    images.exportDataset(unlimited, await open(db, user, params.project_id, params.dataset_id, 'r')),
  );
  imageRoutes(api, db, unlimited);
}

function imageRoutes(api: Api, db: Database, unlimited: Database): void {
  const open = datasets.openDataset;
  api.serve(projects.createImage, async ({ user, params, body }) =>
    images.createImage(db, await open(db, user, params.project_id, params.dataset_id, 'rw'), body),
  );
  api.serve(projects.updateImage, async ({ user, params, body }) =>
    images.updateImage(db, await open(db, user, params.project_id, params.dataset_id, 'rw'), body),
  );
  api.serve(projects.deleteImage, async ({ user, params, query }) =>
    images.deleteImage(db, await open(db, user, params.project_id, params.dataset_id, 'rw'), query.zarr_url),
  );
  api.serve(projects.queryImages, async ({ user, params, query, body }) => {
    const asked = body ?? { zarr_url: null, ...images.NO_FILTERS };
    const reader = { userId: user.id, projectId: params.project_id, datasetId: params.dataset_id };
    const found = await images.queryImagesAtOnce(db, reader, asked, query, query.sort);
    if (found) return found;
    const dataset = await open(db, user, params.project_id, params.dataset_id, 'r');
    return images.queryImages(db, dataset, asked, query, query.sort);
  });
  api.serve(projects.verifyUniqueTypes, async ({ user, params, query, body }) => {
    const dataset = await open(db, user, params.project_id, params.dataset_id, 'r');
    return checks.ambiguousTypes(db, dataset, body, query.workflowtask_id);
  });
  api.serve(projects.verifyUniqueTypesByGet, async ({ user, params, query }) => {
    const dataset = await open(db, user, params.project_id, params.dataset_id, 'r');
    return checks.ambiguousTypes(db, dataset, undefined, query.workflowtask_id);
  });
  api.serve(projects.nonProcessedImages, ({ user, params, query, body }) =>
    checks.nonProcessedImages(db, user, { ...params, ...query }, body),
  );
  api.servePacked(projects.changeImages, packBulk, async ({ user, params, body: { rest, texts } }) =>
    images.changeImages(db, await open(db, user, params.project_id, params.dataset_id, 'rw'), rest, texts[0]),
  );
  api.serve(projects.exportImages, async ({ user, params, query, body }) => {
    const dataset = await open(db, user, params.project_id, params.dataset_id, 'r');
    return images.exportImages(unlimited, dataset, body ?? images.NO_FILTERS, query.format);
  });
}
