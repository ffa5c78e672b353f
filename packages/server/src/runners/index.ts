export type { Batch, ClusterBatch } from './batch.ts';
export type { JournalRecord, UnitEnd } from './records.ts';
export { createLocalRunner, type LocalRunner } from './local.ts';
export { type Runner, RunnerProblem } from './runner.ts';
export { createWarmParents, type Surroundings, type WarmParents } from './warm-parents.ts';
export { createSlurmRunners, type SlurmRunners } from './slurm/index.ts';
