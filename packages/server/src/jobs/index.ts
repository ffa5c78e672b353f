export { jobFiles } from './files/index.ts';
export { jobEventRoutes } from './routes/events.ts';
export { jobReadRoutes } from './routes/reads.ts';
export { countSubmittedJobs, recentJobs } from './store/jobs.ts';
export { createStopRequests } from './execution/stop-requests.ts';
export { jobHandler } from './execution/handler.ts';
export { jobControlRoutes } from './routes/control.ts';
export { JOB_WORK } from './submit.ts';
export { startTidyingUp } from './retention.ts';
