/** Everything a person arranges before pressing Run. */
export * from './dataset-operations.ts';
export * from './project-operations.ts';
export * from './workflow-operations.ts';
