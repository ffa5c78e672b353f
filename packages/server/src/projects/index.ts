export { datasetRoutes } from './routes/datasets.ts';
export { projectRoutes } from './routes/projects.ts';
export { sharingRoutes } from './routes/sharing.ts';
export { templateRoutes } from './routes/templates.ts';
export { workflowRoutes } from './routes/workflows.ts';
