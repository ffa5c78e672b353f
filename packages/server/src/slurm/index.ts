export {
  type Asked,
  type Asking,
  comesBack,
  Interrupted,
  isAway,
  pause,
  unlessAway,
  untilAnswered,
  whileAway,
} from './away.ts';
export { cancel, type SlurmClient } from './client.ts';
export { clusterAddress, type ClusterAddress, type Clusters, createClusters } from './clusters.ts';
export { endsOfFiles, fetchFiles } from './fetch-files.ts';
export { SilentFile, type WantedFile } from './file-reader.ts';
export { followFiles } from './follow-files.ts';
export type { QueuedElement, QueuedJobs } from '../engine/slurm/queue.ts';
export { newToken, type QueueReading, type SlurmQueue } from './queue.ts';
export { SubmissionRefused, submitOnce } from './submit-once.ts';
