export { createTableMaker } from './maker.ts';
export { tableRoutes } from './routes.ts';
