export type { Caller } from './access.ts';
export { type Api, createApi, refuseOtherMethods } from './api.ts';
export { createApp } from './app.ts';
export { serveDocumentation } from './documentation.ts';
export { invalid, refuse, Refusal } from './refusal.ts';
export { Streamed } from './streamed.ts';
