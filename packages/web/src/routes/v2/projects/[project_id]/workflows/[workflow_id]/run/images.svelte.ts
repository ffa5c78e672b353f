/** The images of a run dialog: the list with its filters for the first task, and the counts that tell who is left out. */
import { call } from '#lib/api/client.ts';
import { bodyOf, type ImagesQuery, newQuery, pageOf } from '#lib/images/filters.ts';
import { createImageList, type ImageList } from '#lib/images/list.svelte.ts';
import { type Counts, chosenCount } from '#lib/workflow/run/images.ts';

type StatusPage = Awaited<ReturnType<typeof ask>> & { of_types: number };

interface FirstTask {
  project_id: number;
  dataset_id: number;
  workflowtask_id: number;
  /** Images in the dataset. */
  all: number;
}

export interface RunImages {
  readonly list: ImageList<StatusPage>;
  readonly counts: Counts | undefined;
  /** How many images the first task gets; undefined while nobody knows. */
  readonly chosen: number | undefined;
  /** Asks for the images of another first task, with these filters. */
  begin: (firstTask: FirstTask, query: Partial<ImagesQuery>) => void;
  /** All addresses that pass. */
  urls: () => Promise<string[]>;
}

const ROWS = 10;

function ask(firstTask: FirstTask, query: ImagesQuery, page: object, signal?: AbortSignal) {
  const { project_id, dataset_id, workflowtask_id } = firstTask;
  return call(
    'jobs.queryImageStatus',
    {
      params: { project_id },
      query: { dataset_id, workflowtask_id, include_warnings: true, include_units: true, ...page },
      body: bodyOf(query),
    },
    { exact: true, ...(signal ? { signal } : {}) },
  );
}

export function createRunImages(): RunImages {
  let firstTask = $state.raw<FirstTask>();

  const list = createImageList(async (query, signal) => {
    const [page, typed] = await Promise.all([
      ask(firstTask!, query, pageOf(query), signal),
      Object.keys(query.attributes).length > 0
        ? ask(firstTask!, { ...query, attributes: {}, status: [] }, { page: 1, page_size: 1 }, signal)
        : undefined,
    ]);
    const counts = (typed ?? page).status_counts;
    return { ...page, of_types: counts.done + counts.failed + counts.submitted + counts.unset };
  });

  const counts = $derived.by((): Counts | undefined => {
    const { page } = list;
    if (page === undefined || firstTask === undefined) return undefined;
    return { all: firstTask.all, ofTypes: page.of_types, byStatus: page.status_counts };
  });

  return {
    list,
    get counts() {
      return counts;
    },
    get chosen() {
      return counts && chosenCount(counts, list.query);
    },
    begin(next, query) {
      firstTask = next;
      list.ask(newQuery({ pageSize: ROWS, ...query }));
    },
    urls: async () => (await ask(firstTask!, list.query, {})).items.map(({ zarr_url }) => zarr_url),
  };
}
