export { prepareAccount } from './at-start.ts';
export { collectionProblem, jobProblem } from './problems.ts';
export { createRunAs, type RunAs } from './run-as.ts';
export { accountWarnings, startLine } from './warnings.ts';
