/** Method and path of every operation of the API, taken from the contract when the client is built. */
declare module 'virtual:operations' {
  const operations: Record<string, readonly [method: string, path: string]>;
  export default operations;
}

/** The schema of each kind of resource, taken from the contract when the client is built. */
declare module 'virtual:resource-schemas' {
  const schemas: Record<'local' | 'slurm_sudo' | 'slurm_ssh', Record<string, unknown>>;
  export default schemas;
}
