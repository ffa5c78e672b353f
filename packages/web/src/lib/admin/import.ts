/** The report of an import in words. */
import type { FileKind, FoundFiles, ImportedTable, ImportLine } from '@service/contract';

import { counted, formatCount } from '../format.ts';

const sum = (tables: readonly ImportedTable[], column: 'imported' | 'changed' | 'left_over') =>
  tables.reduce((all, table) => all + table[column], 0);

/** `1 234 rows, 2 changed, none left over` */
export function tableTotals(tables: readonly ImportedTable[]): string {
  const some = (count: number) => (count === 0 ? 'none' : formatCount(count));
  const [changed, left] = [sum(tables, 'changed'), sum(tables, 'left_over')];
  return `${counted(sum(tables, 'imported'), 'row')}, ${some(changed)} changed, ${some(left)} left over`;
}

/** Which row a line is about: `projects 7`, or the table alone. */
export const lineName = ({ table, id }: Pick<ImportLine, 'table' | 'id'>): string =>
  id === null ? `${table}:` : `${table} ${id}:`;

const FILE_NAMES: Record<FileKind, string> = {
  job_folders: 'Folders of jobs',
  job_zips: 'Zips of jobs',
  environments: 'Environments',
  archives: 'Archives',
  keys: 'Keys',
};

export const fileRows = (files: Record<FileKind, FoundFiles>) =>
  (Object.keys(FILE_NAMES) as FileKind[]).map((kind) => ({ kind, name: FILE_NAMES[kind], ...files[kind] }));
