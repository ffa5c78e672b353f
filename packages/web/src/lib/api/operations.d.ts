/** Method and path of every operation of the API, taken from the contract when the client is built. */
declare module 'virtual:operations' {
  const operations: Record<string, readonly [method: string, path: string]>;
  export default operations;
}
