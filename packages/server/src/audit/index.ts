export { noteActing } from './acting.ts';
export { changes } from './details.ts';
export { type Entry, ifChanged, operator, record } from './record.ts';
export { startForgetting } from './retention.ts';
export { auditRoutes } from './routes.ts';
