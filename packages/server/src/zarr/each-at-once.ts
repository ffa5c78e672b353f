/** Does something for each of a list, some at a time. After a failure nothing new begins. */
export async function eachAtOnce<T>(
  list: readonly T[],
  most: number,
  work: (item: T, at: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed = false;
  const run = async () => {
    while (next < list.length && !failed) {
      const at = next++;
      try {
        await work(list[at]!, at);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, list.length) }, run));
}
