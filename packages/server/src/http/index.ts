export type { Caller } from './access.ts';
export { type Api, createApi, refuseOtherMethods, Streamed } from './api.ts';
export { createApp } from './app.ts';
export { serveDocumentation } from './documentation.ts';
export type { Acting, Origin } from './origin.ts';
export { invalid, refuse, Refusal } from './refusal.ts';
