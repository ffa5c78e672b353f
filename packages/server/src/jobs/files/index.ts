export { archiveJob } from './archive.ts';
export { makeJobFolder } from './folder.ts';
export { type JobFiles, jobFiles } from './job-files.ts';
export { applyRetention } from './retention.ts';
export { type JobFolder, openLog } from './logs.ts';
export { openWorkflowLog, type WorkflowLog } from './workflow-log.ts';
