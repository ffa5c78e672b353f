/**
 * A list of images that lives in a component, for dialogs: it keeps the query, asks for the page, and lets only the answer
 * to the newest question count. Pages keep the query in their address instead.
 *
 *     const list = createImageList((query, signal) => call('jobs.queryImageStatus', { …, body: bodyOf(query) }, { signal }));
 *     onMount(() => list.ask(newQuery({ types: preselected })));
 *     <ImageTable {list} … />
 *
 * `await list.settled()` is for those who act on what was chosen: it returns when the page belongs to the query.
 */
import { ApiProblem } from '../api/problem.ts';
import { type ImagesPage, type ImagesQuery, newQuery } from './filters.ts';

/** One page of images and the query it belongs to, however they are kept. */
export interface ShownImages<Page extends ImagesPage = ImagesPage> {
  readonly query: ImagesQuery;
  /** Undefined until the first answer. */
  readonly page: Page | undefined;
  readonly busy?: boolean;
  readonly problem?: string | undefined;
  ask: (query: ImagesQuery) => void;
}

export interface ImageList<Page extends ImagesPage = ImagesPage> extends ShownImages<Page> {
  readonly busy: boolean;
  /** The same question again, after something changed. */
  again: () => void;
  settled: () => Promise<void>;
}

export function createImageList<Page extends ImagesPage>(
  load: (query: ImagesQuery, signal: AbortSignal) => Promise<Page>,
): ImageList<Page> {
  let query = $state.raw(newQuery());
  let page = $state.raw<Page>();
  let problem = $state<string>();
  let busy = $state(false);
  let current: AbortController | undefined;
  let work: Promise<void> = Promise.resolve();

  async function fetchPage(controller: AbortController) {
    try {
      const answer = await load(query, controller.signal);
      if (current !== controller) return;
      page = answer;
      problem = undefined;
    } catch (error) {
      if (current !== controller) return;
      if (!(error instanceof ApiProblem)) throw error;
      problem = error.message;
    } finally {
      if (current === controller) busy = false;
    }
  }

  function ask(next: ImagesQuery) {
    current?.abort();
    current = new AbortController();
    query = next;
    busy = true;
    work = fetchPage(current);
  }

  return {
    get query() {
      return query;
    },
    get page() {
      return page;
    },
    get busy() {
      return busy;
    },
    get problem() {
      return problem;
    },
    ask,
    again: () => ask(query),
    async settled() {
      let last;
      do {
        last = work;
        await last;
      } while (last !== work);
    },
  };
}
