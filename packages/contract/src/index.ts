/** The language of the house: what server, web client and command line tool say to each other. */
export * as accounts from './accounts/operations.ts';
export * from './accounts/profile.ts';
export * from './accounts/resource.ts';
export * from './accounts/user.ts';
export * from './openapi.ts';
export * from './operation.ts';
export * from './pagination.ts';
export * from './validate.ts';
export { readEmail } from './wire/email.ts';
export type { ValidationEntry } from './wire/entries.ts';
export { covers, normalisePath, readAbsolutePath, readProjectDir } from './wire/paths.ts';
