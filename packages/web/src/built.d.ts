/** Modules that only the build has: its plugins make them (operations-plugin.ts, demo-plugin.ts). */

/** Method and path of every operation of the API, taken from the contract. */
declare module 'virtual:operations' {
  const operations: Record<string, readonly [method: string, path: string]>;
  export default operations;
}

/** The demo: its workflows and the wheel of its tasks. */
declare module 'virtual:demo' {
  import type { JsonObject } from '@service/contract';

  interface BuiltTask {
    name: string;
    args_non_parallel?: JsonObject;
    args_parallel?: JsonObject;
  }

  const demo: {
    project: string;
    workflows: {
      name: string;
      description: string;
      dataset: string;
      tasks: BuiltTask[];
      ends: 'done' | 'failed';
    }[];
    wheel: { name: string; base64: string } | null;
  };
  export default demo;
}
