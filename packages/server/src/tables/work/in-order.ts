/** Does something for each of a list, some ahead of what is taken, and gives the results in the order of the list. */
export async function* inOrder<T, R>(list: readonly T[], ahead: number, work: (item: T, at: number) => Promise<R>) {
  const under: Promise<R>[] = [];
  let next = 0;
  const begin = () => {
    const at = next++;
    const one = work(list[at]!, at);
    // it is waited for later, or not at all
    one.catch(() => undefined);
    under.push(one);
  };
  while (next < list.length && under.length < ahead) begin();
  while (under.length > 0) {
    const result = await under.shift()!;
    if (ahead > 1 && next < list.length) begin();
    yield result;
    if (ahead === 1 && next < list.length) begin();
  }
}
