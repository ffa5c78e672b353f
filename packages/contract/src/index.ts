/** The language of the house: what server, web client and command line tool say to each other. */
export * as accounts from './accounts/operations.ts';
export * from './accounts/profile.ts';
export * from './accounts/resource.ts';
export * from './accounts/user.ts';
export * from './openapi.ts';
export * from './operation.ts';
export * from './pagination.ts';
export * from './projects/dataset.ts';
export * as projects from './projects/operations.ts';
export * from './projects/project.ts';
export * from './projects/workflow.ts';
export * from './tasks/task.ts';
export * from './validate.ts';
export { readEmail } from './wire/email.ts';
export type { ValidationEntry } from './wire/entries.ts';
export type { JsonObject } from './wire/json.ts';
export { kindOf, NumberAsWritten, parseJson, plain, type Scalar } from './wire/numbers.ts';
export { covers, normalisePath, readAbsolutePath, readProjectDir } from './wire/paths.ts';
