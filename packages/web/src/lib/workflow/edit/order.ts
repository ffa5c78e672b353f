/** Moving things in a list. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = list.filter((_, index) => index !== from);
  const at = Math.max(0, Math.min(to, rest.length));
  return [...rest.slice(0, at), list[from]!, ...rest.slice(at)];
}

export const sameOrder = <T>(one: readonly T[], other: readonly T[]): boolean =>
  one.length === other.length && one.every((item, index) => item === other[index]);

/** Why order, deletion and insertion wait; undefined when nothing runs. */
export const lockedBy = (submittedJobs: number): string | undefined =>
  submittedJobs === 0
    ? undefined
    : submittedJobs === 1
      ? 'A job of this workflow is running. The order is locked until it has ended.'
      : `${submittedJobs} jobs of this workflow are running. The order is locked until they have ended.`;
