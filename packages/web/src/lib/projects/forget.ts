/** What the browser keeps about a project that is gone: which dataset was last chosen for each of its workflows. */
type Kept = Pick<Storage, 'length' | 'key' | 'removeItem'>;

export function forgetProject(storage: Kept, projectId: number): void {
  // as workflow/dataset.ts names them
  const prefix = `dataset:${projectId}:`;
  const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index));
  for (const key of keys) if (key?.startsWith(prefix)) storage.removeItem(key);
}
