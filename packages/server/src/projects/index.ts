export { openProject } from './access.ts';
export { openDataset } from './datasets.ts';
export { ofGeneration } from './generations.ts';
export { splitStatus } from './image-checks.ts';
export { readSort, valuesOf } from './images.ts';
export { datasetRoutes } from './routes/datasets.ts';
export { projectRoutes } from './routes/projects.ts';
export { sharingRoutes } from './routes/sharing.ts';
export { templateRoutes } from './routes/templates.ts';
export { workflowRoutes } from './routes/workflows.ts';
export { countGroups } from './store/image-groups.ts';
export { countStatuses, type ImageSeen, sliceOfSeenImages, type StatusOrder } from './store/image-status.ts';
export { openWorkflow } from './workflows.ts';
export {
  changeImageList,
  changeRemembered,
  holdDataset,
  imagesByUrl,
  rememberedAmong,
  rememberImages,
  selectUrls,
  setTypes,
} from './store/image-changes.ts';
export { findDataset, stateOfFiles } from './store/datasets.ts';
export { countImages, findImage, sliceOfImages, spreadOfImages } from './store/images.ts';
export { findWorkflow } from './store/workflows.ts';
