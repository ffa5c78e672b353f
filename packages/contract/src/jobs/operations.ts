export * from './admin-operations.ts';
export * from './history-operations.ts';
export * from './job-operations.ts';
