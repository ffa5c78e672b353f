/** The demo as it is in the build (demo-plugin.ts). */
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
