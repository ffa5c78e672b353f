/** Everything a person arranges before pressing Run. */
export * from './contents-operations.ts';
export * from './dataset-operations.ts';
export * from './picture-operations.ts';
export * from './project-operations.ts';
export * from './table-operations.ts';
export * from './workflow-operations.ts';
