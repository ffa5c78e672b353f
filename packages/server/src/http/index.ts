export type { Caller } from './access.ts';
export { type Api, createApi, refuseOtherMethods, Streamed } from './api.ts';
export { createApp } from './app.ts';
export { parseJsonBody, unstorableText } from './bodies/json.ts';
export type { Packed, Packs } from './bodies/pack.ts';
export { createBodies } from './bodies/take.ts';
export { serveDocumentation } from './documentation.ts';
export { invalid, refuse, Refusal } from './refusal.ts';
