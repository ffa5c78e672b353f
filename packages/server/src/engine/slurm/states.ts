/** What Slurm says about jobs, and what it means. */
export { type EndKind, endWords, stateKind } from './ends.ts';
export { type QueuedElement, type QueuedJobs, readAccounts, readJobId, readQueue } from './queue.ts';
export { isPassing, refusalWords } from './refusals.ts';
