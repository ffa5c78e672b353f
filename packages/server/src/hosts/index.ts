export type { Host, ProcessHandle } from './host.ts';
export { localHost } from './local.ts';
