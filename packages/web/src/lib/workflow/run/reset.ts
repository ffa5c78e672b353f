/**
 * Begins anew without losing anything: the new dataset and its job come first, the old dataset goes last. When something is
 * refused on the way, what was made is taken back and the old dataset is as it was.
 */
import type { Dataset, Job } from '@service/contract';

const parts = (path: string) => path.split('/').filter((part) => part !== '' && part !== '.');
const schemeOf = (path: string) => (path.startsWith('s3://') ? 's3' : 'file');

export interface ZarrFolder {
  project_dir: string;
  zarr_subfolder: string;
}

/**
 * A folder as one of the reader's own folders and the rest. Compared part by part: `/data/user1` does not hold
 * `/data/user10/x`. Of several the deepest; undefined when none holds it.
 */
export function zarrFolderOf(zarrDir: string, projectDirs: readonly string[]): ZarrFolder | undefined {
  const wanted = parts(zarrDir);
  const [holder] = projectDirs
    .filter((dir) => schemeOf(dir) === schemeOf(zarrDir))
    .filter((dir) => parts(dir).every((part, index) => part === wanted[index]))
    .sort((one, other) => parts(other).length - parts(one).length);
  if (holder === undefined) return undefined;
  return { project_dir: holder, zarr_subfolder: wanted.slice(parts(holder).length).join('/') || '.' };
}

/** `Plate_1` for `Plate`; `Plate_3` for `Plate_2` when 1 and 2 are taken. */
export function freeName(name: string, taken: readonly string[]): string {
  const stem = name.replace(/_\d+$/, '');
  let number = 1;
  while (taken.includes(`${stem}_${number}`)) number += 1;
  return `${stem}_${number}`;
}

export interface ResetSteps {
  create: () => Promise<Dataset>;
  submit: (dataset: Dataset) => Promise<Job>;
  remove: (dataset: Pick<Dataset, 'id'>) => Promise<void>;
  /** Removed in the end; nothing when it is kept. */
  old: Pick<Dataset, 'id' | 'name'> | undefined;
}

export interface ResetResult {
  job: Job;
  /** The job runs, but something is left that should be gone. */
  leftover: string | undefined;
}

export async function resetAndRun({ create, submit, remove, old }: ResetSteps): Promise<ResetResult> {
  const created = await create();
  let job: Job;
  try {
    job = await submit(created);
  } catch (problem) {
    // refused when the job was taken after all and only the answer was lost: then both datasets stay
    await remove(created).catch(() => undefined);
    throw problem;
  }
  if (old === undefined) return { job, leftover: undefined };
  try {
    await remove(old);
    return { job, leftover: undefined };
  } catch (problem) {
    return {
      job,
      leftover: `The job runs on the new dataset. The old one, ${old.name}, could not be removed: ${(problem as Error).message}`,
    };
  }
}
