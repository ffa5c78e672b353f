/** What the workflow page shows, as its address says it. */
const TABS = ['arguments', 'images', 'runs', 'types', 'resources', 'info'] as const;
export type Tab = (typeof TABS)[number];

export interface Shown {
  task: number | undefined;
  tab: Tab;
  run: number | undefined;
  /** The image whose log is open; `first` is the first of the list. */
  image: string | undefined;
  unit: number | undefined;
}

const idOf = (text: string | null) => (text !== null && /^\d+$/.test(text) ? Number(text) : undefined);

/** `usual` is what is shown when the address names no task. */
export function readShown(address: string, usual: { task: number | undefined; tab: Tab }): Shown {
  const search = new URLSearchParams(address);
  const task = idOf(search.get('task'));
  const tab = TABS.find((one) => one === search.get('tab'));
  return {
    task: task ?? usual.task,
    tab: tab ?? (task === undefined ? usual.tab : 'arguments'),
    run: idOf(search.get('run')),
    image: search.get('image') ?? undefined,
    unit: idOf(search.get('unit')),
  };
}

/** What belongs to one task, one run or one list goes when another is chosen. */
export const NO_LIST = { status: null, sort: null, page: null, page_size: null, image: null, unit: null };

/** The search part of an address without the filters of lists. */
export function withoutLists(search: string): string {
  const next = new URLSearchParams(search);
  for (const name of [...next.keys()]) if (/^[at]\./.test(name) || name in NO_LIST) next.delete(name);
  const text = next.toString();
  return text === '' ? '' : `?${text}`;
}
