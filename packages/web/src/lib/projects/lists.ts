/** Which projects are shown, and in which order. */
import type { ProjectInList } from '@service/contract';

export const ORDERS = { activity: 'Last activity', name: 'Name', created: 'Newest' } as const;
export type Order = keyof typeof ORDERS;

export const isOrder = (text: string | null): text is Order => text !== null && text in ORDERS;

export const hasName = (name: string, wanted: string): boolean =>
  name.toLowerCase().includes(wanted.trim().toLowerCase());

/** Starred ones come first; otherwise the order stays. */
export const starredFirst = <T extends { is_starred: boolean }>(list: readonly T[]): T[] => [
  ...list.filter(({ is_starred }) => is_starred),
  ...list.filter(({ is_starred }) => !is_starred),
];

type Sorted = Pick<ProjectInList, 'name' | 'is_starred' | 'timestamp_created' | 'last_job'>;

const lastTime = ({ last_job, timestamp_created }: Sorted) => Date.parse(last_job?.timestamp ?? timestamp_created);

const COMPARE: Record<Order, (a: Sorted, b: Sorted) => number> = {
  activity: (a, b) => lastTime(b) - lastTime(a),
  name: (a, b) => a.name.localeCompare(b.name),
  created: (a, b) => Date.parse(b.timestamp_created) - Date.parse(a.timestamp_created),
};

export const sortProjects = <T extends Sorted>(list: readonly T[], order: Order): T[] =>
  starredFirst([...list].sort(COMPARE[order]));
