export { changes } from './details.ts';
export { operator } from './operator.ts';
export { type Entry, ifChanged, record } from './record.ts';
export { startForgetting } from './retention.ts';
export { auditRoutes } from './routes.ts';
