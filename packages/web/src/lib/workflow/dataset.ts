/**
 * Which dataset a workflow page shows: the one in the address and no other; without one the dataset chosen here last, else
 * that of the newest job, else the newest. What was chosen is kept in the browser, for each workflow of each project.
 */
interface DatasetLike {
  id: number;
  timestamp_created: string;
}

/** In the address, when the reader wants none. */
export const NO_DATASET = 'none';

export type ChoiceStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const prefixOf = (projectId: number) => `dataset:${projectId}:`;
const keyOf = (projectId: number, workflowId: number) => `${prefixOf(projectId)}${workflowId}`;

export function rememberedDataset(storage: ChoiceStorage, projectId: number, workflowId: number): number | undefined {
  const text = storage.getItem(keyOf(projectId, workflowId));
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

export function rememberDataset(
  storage: ChoiceStorage,
  projectId: number,
  workflowId: number,
  dataset: number | undefined,
): void {
  const key = keyOf(projectId, workflowId);
  if (dataset === undefined) storage.removeItem(key);
  else storage.setItem(key, String(dataset));
}

/** Of a project that is gone. */
export function forgetProject(storage: Pick<Storage, 'length' | 'key' | 'removeItem'>, projectId: number): void {
  const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index));
  for (const key of keys) if (key?.startsWith(prefixOf(projectId))) storage.removeItem(key);
}

interface Wishes {
  /** From the address. */
  wanted?: string | null;
  remembered?: number | undefined;
  /** Of the newest job. */
  last: number | null;
}

export function chooseDataset<D extends DatasetLike>(
  datasets: readonly D[],
  { wanted, remembered, last }: Wishes,
): D | undefined {
  const byId = (id: number | null | undefined) => datasets.find((dataset) => dataset.id === id);
  const newest = () =>
    datasets.reduce<D | undefined>(
      (one, other) => (one && Date.parse(one.timestamp_created) >= Date.parse(other.timestamp_created) ? one : other),
      undefined,
    );
  if (wanted) return byId(Number(wanted));
  return byId(remembered) ?? byId(last) ?? newest();
}
