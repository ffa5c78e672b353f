/** What server, web client and command line tool say to each other, described once. */
export * from './accounts/audit.ts';
export * as accounts from './accounts/operations.ts';
export type { DiskSeen, Overview, ResourceSeen } from './accounts/overview.ts';
export * from './accounts/profile.ts';
export * from './accounts/resource.ts';
export * from './accounts/token.ts';
export * from './accounts/user.ts';
export * from './columns.ts';
export * from './csv.ts';
export { isAddressOf, pathOf, segmentsOf } from './address.ts';
export { isBrowser, isOfForeignPage, senderOf } from './foreign-page.ts';
export * from './imports/report.ts';
export * from './jobs/accounting.ts';
export * from './jobs/history.ts';
export * from './jobs/job.ts';
export * as jobs from './jobs/operations.ts';
export * from './jobs/pre-check.ts';
export * from './jobs/task-status.ts';
export * from './openapi.ts';
export * from './operation.ts';
export * from './pagination.ts';
export * from './projects/contents.ts';
export * from './projects/dataset.ts';
export * as projects from './projects/operations.ts';
export * from './projects/picture.ts';
export * from './projects/project.ts';
export * from './projects/table.ts';
export * from './projects/workflow.ts';
export * from './pythons.ts';
export * from './tasks/manifest.ts';
export * as tasks from './tasks/operations.ts';
export * from './tasks/task-group.ts';
export * from './tasks/task.ts';
export * from './validate.ts';
export { readEmail } from './wire/email.ts';
export type { ValidationEntry } from './wire/entries.ts';
export type { JsonObject } from './wire/json.ts';
export { NotJson, type Piece, type Pieces } from './wire/exact-json.ts';
export { folderPart } from './wire/names.ts';
export { kindOf, NumberAsWritten, parseJson, parseLongJson, plain, type Scalar } from './wire/numbers.ts';
export {
  covers,
  normalisePath,
  readAbsolutePath,
  readProjectDir,
  readZarrUrl,
  withoutSlashesAtEnd,
} from './wire/paths.ts';
export { readInteger } from './wire/scalars.ts';
