export type { Batch, BatchUnit } from './batch.ts';
export type { JournalRecord, UnitEnd } from './journal.ts';
export { createLocalRunner, type LocalRunner, RunnerProblem } from './local.ts';
