/** What an import of an existing deployment did: numbers by table, a line for every row that had to change, what to do next. */
import { z } from 'zod';

import { answer } from '../wire/scalars.ts';

const ImportedTable = z.object({
  table: z.string(),
  source_table: z.string(),
  source_rows: z.int(),
  imported: z.int(),
  /** Rows that a rule changed. */
  changed: z.int(),
  /** Rows that no table can hold; they are kept whole beside the tables. */
  left_over: z.int(),
  checksum: z.enum(['ok', 'different']),
});
export type ImportedTable = z.output<typeof ImportedTable>;

const ImportLine = z.object({
  rule: z.string(),
  table: z.string(),
  /** A number where the row has one. */
  id: z.union([z.int(), z.string()]).nullable(),
  text: z.string(),
});
export type ImportLine = z.output<typeof ImportLine>;

const FoundFiles = z.object({
  there: z.int(),
  missing: z.int(),
  unreadable: z.int(),
  /** The first of those that are missing or not readable. */
  paths: z.array(z.string()),
});
export type FoundFiles = z.output<typeof FoundFiles>;

export const FILE_KINDS = ['job_folders', 'job_zips', 'environments', 'archives', 'keys'] as const;
export type FileKind = (typeof FILE_KINDS)[number];

export const ImportReport = z.object({
  source: z.object({
    database: z.string(),
    revision: z.string(),
    release: z.string(),
    server_version: z.string(),
  }),
  started: z.string(),
  finished: z.string(),
  dry_run: z.boolean(),
  /** Who got the projects without an owner. */
  orphans_to: z.string().nullable(),
  tables: z.array(ImportedTable),
  rules: z.array(ImportLine),
  /** Null when nobody looked for them. */
  files: z.record(z.enum(FILE_KINDS), FoundFiles).nullable(),
  settings: z.array(z.string()),
});
export type ImportReport = z.output<typeof ImportReport>;

/** What a rule found: how often, and its first rows. There may be a line for every row of a database. */
const FoundByRule = z
  .object({
    rule: answer.text(),
    changes: answer
      .boolean()
      .meta({ description: 'False where rows are as they were, and an administrator may want to know.' }),
    num: answer.integer(),
    first: z.array(ImportLine),
  })
  .meta({ id: 'FoundByRule' });
export type FoundByRule = z.output<typeof FoundByRule>;

/** A report for pages: all of it but most of the lines. */
export const ImportOverview = ImportReport.omit({ dry_run: true, rules: true })
  .extend({ rules: z.array(FoundByRule) })
  .meta({ id: 'ImportOverview' });
export type ImportOverview = z.output<typeof ImportOverview>;
