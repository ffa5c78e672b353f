/**
 * The word that goes with a number.
 *
 *     `${count} ${plural(count, 'job')} ${plural(count, 'is', 'are')} running` // 1 job is running, 3 jobs are running
 */
export const plural = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many);
