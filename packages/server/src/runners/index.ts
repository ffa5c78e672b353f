export type { Batch, ClusterPlace } from './batch.ts';
export type { JournalRecord, UnitEnd } from './records.ts';
export { clusterAddress, type ClusterAddress, type Clusters, createClusters } from './slurm/clusters.ts';
export { createLocalRunner, type LocalRunner } from './local.ts';
export { type Runner, RunnerProblem } from './runner.ts';
