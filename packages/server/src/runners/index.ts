export type { JournalRecord, UnitEnd } from './journal.ts';
export { createLocalRunner, type LocalRunner, RunnerProblem } from './local.ts';
