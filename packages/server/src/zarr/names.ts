/** Names that files or addresses give, before they become steps of a path. */
const LONGEST = 200;
/** Other steps of a path, and its end. */
const LEADS_ELSEWHERE = ['/', '\\', '\0'];

export const isName = (name: unknown): name is string =>
  typeof name === 'string' &&
  name.length > 0 &&
  name.length <= LONGEST &&
  name !== '.' &&
  name !== '..' &&
  !LEADS_ELSEWHERE.some((sign) => name.includes(sign));
