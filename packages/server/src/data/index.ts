export { createReaders, type Readers } from './readers.ts';
export { dataRoutes, forgetOnChanges } from './routes.ts';
