/** The report of an import, for people and as JSON. Its lines stay in the database until they are written down. */
import { open, rename, rm } from 'node:fs/promises';

import type pg from 'pg';

import { FILE_KINDS, type ImportReport } from '@service/contract';

import { allLines, type RuleSummary } from './findings.ts';
import { isChange } from './rules.ts';

/** The report without its lines, of which there may be millions. */
export type Draft = Omit<ImportReport, 'rules'>;

/** What stands before and after the lines in the JSON text. */
export function jsonAround({ files, settings, ...head }: Draft): [string, string] {
  return [
    `${JSON.stringify(head).slice(0, -1)},"rules":`,
    `,"files":${JSON.stringify(files)},"settings":${JSON.stringify(settings)}}`,
  ];
}

/** Writes the report beside its place; it is moved there when the import stays. */
export interface ReportFile {
  write(target: pg.ClientBase, draft: Draft): Promise<void>;
  /** Writes the report that an earlier import stored. */
  writeStored(target: pg.Pool): Promise<void>;
  keep(): Promise<void>;
  discard(): Promise<void>;
}

const STORED_AT_A_TIME = 2 ** 22;

async function* storedText(target: pg.Pool): AsyncGenerator<string> {
  for (let start = 1; ; start += STORED_AT_A_TIME) {
    const { rows } = await target.query<{ part: string }>('select substr(report::text, $1, $2) as part from imports', [
      start,
      STORED_AT_A_TIME,
    ]);
    if (rows[0]!.part === '') return;
    yield rows[0]!.part;
  }
}

export async function openReportFile(path: string): Promise<ReportFile> {
  const draftPath = `${path}.part`;
  const file = await open(draftPath, 'w', 0o600);
  return {
    async write(target, draft) {
      const [before, after] = jsonAround(draft);
      await file.appendFile(`${before}[`);
      let separator = '';
      for await (const lines of allLines(target)) {
        await file.appendFile(separator + lines.join(','));
        separator = ',';
      }
      await file.appendFile(`]${after}\n`);
      await file.sync();
    },
    async writeStored(target) {
      for await (const part of storedText(target)) await file.appendFile(part);
      await file.appendFile('\n');
      await file.sync();
    },
    async keep() {
      await file.close();
      await rename(draftPath, path);
    },
    async discard() {
      await file.close();
      await rm(draftPath, { force: true });
    },
  };
}

/** Columns of equal width; numbers stand on the right. */
export function textTable(head: string[], rows: (string | number)[][]): string[] {
  const all = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  const isNumber = (column: number) => rows.every((row) => typeof row[column] === 'number');
  return all.map((row) =>
    row
      .map((cell, column) => (isNumber(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
}

function ruleText({ rule, num, first }: RuleSummary): string[] {
  const lines = first.map(({ table, id, text }) => `  ${table}${id === null ? '' : ` ${id}`}: ${text}`);
  const more = num > first.length ? [`  … and ${num - first.length} more (--report FILE has all of them)`] : [];
  return [`${rule} (${num})`, ...lines, ...more];
}

const FILE_WORDS: Record<(typeof FILE_KINDS)[number], string> = {
  job_folders: 'folders of jobs',
  job_zips: 'zips of jobs',
  environments: 'environments',
  archives: 'archives',
  keys: 'keys',
};

function filesText(files: NonNullable<ImportReport['files']>): string[] {
  const rows = FILE_KINDS.map((kind) => {
    const { there, missing, unreadable } = files[kind];
    return [FILE_WORDS[kind], there, missing, unreadable];
  });
  return [
    'Files',
    ...textTable(['', 'there', 'missing', 'not readable'], rows).map((row) => `  ${row}`),
    ...FILE_KINDS.flatMap((kind) => files[kind].paths).map((path) => `  not found or not readable: ${path}`),
  ];
}

export function reportText(draft: Draft, rules: RuleSummary[]): string {
  const isNote = ({ rule }: RuleSummary) => !isChange(rule);
  const tables = textTable(
    ['table', 'source', 'imported', 'changed', 'left over', 'checksum'],
    draft.tables.map((row) => [row.table, row.source_rows, row.imported, row.changed, row.left_over, row.checksum]),
  );
  const section = (heading: string, chosen: RuleSummary[]) =>
    chosen.length === 0 ? [] : ['', heading, ...chosen.flatMap(ruleText)];
  return [
    `Source: ${draft.source.database}, release ${draft.source.release} (${draft.source.revision}), PostgreSQL ${draft.source.server_version}`,
    '',
    ...tables,
    ...section(
      'Rows that were changed or left out',
      rules.filter((summary) => !isNote(summary)),
    ),
    ...section('Worth knowing', rules.filter(isNote)),
    ...(draft.files ? ['', ...filesText(draft.files)] : []),
    '',
    'Settings for the service',
    ...draft.settings.map((line) => `  ${line}`),
  ].join('\n');
}
