/** Where an image comes from: the task that made it, and those that worked on it since. */
import type { Image, ImageHistory, TaskOfImage, User } from '@service/contract';

import { refuse } from '../http/index.ts';
import { findImage, openDataset } from '../projects/index.ts';
import { type DeedOfTask, deedsOfTasks } from './store/history.ts';
import type { Executor } from './store/jobs.ts';

interface ImageOfDataset {
  project_id: number;
  dataset_id: number;
  zarr_url: string;
}

const told = ({ zarr_url: _, output_types: __, ...deed }: DeedOfTask): TaskOfImage => deed;

/** A task that makes new images says which types they have. */
const gives = ({ output_types }: DeedOfTask, { types }: Image) => {
  const named = Object.entries(output_types);
  return named.length > 0 && named.every(([type, value]) => types[type] === value);
};

function makerOf(image: Image, deeds: readonly DeedOfTask[]): DeedOfTask | undefined {
  if (image.origin === null) return deeds.findLast(({ zarr_url }) => zarr_url === null);
  const before = deeds.filter(({ zarr_url, status }) => zarr_url === image.origin && status === 'done');
  const fitting = before.filter((deed) => gives(deed, image));
  const [only, other] = fitting.length > 0 ? fitting : before;
  return other === undefined ? only : undefined;
}

export async function imageHistory(db: Executor, user: User, place: ImageOfDataset): Promise<ImageHistory> {
  const { id } = await openDataset(db, user, place.project_id, place.dataset_id, 'r');
  const image = await findImage(db, id, place.zarr_url);
  if (!image) throw refuse(404, 'There is no image with this zarr_url in the dataset.');
  const deeds = await deedsOfTasks(db, id, [image.zarr_url, ...(image.origin === null ? [] : [image.origin])]);
  const maker = makerOf(image, deeds);
  return {
    made_by: maker ? told(maker) : null,
    worked_on_by: deeds.filter(({ zarr_url }) => zarr_url === image.zarr_url).map(told),
  };
}
