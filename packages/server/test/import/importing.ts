/** Imports for tests: an existing database, an empty one of ours, and what became of the first in the second. */
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';

import { importDatabase, type ImportOptions, openSource } from '../../src/import/index.ts';
import {
  type Existing,
  type ExistingOptions,
  openExisting,
  openSample,
  type Row,
} from '../support/existing-database.ts';
import { freshDatabase } from '../support/server.ts';

export interface Line {
  rule: string;
  table: string;
  id: number | string | null;
  text: string;
}

export type Target = Awaited<ReturnType<typeof freshDatabase>>;

/** With the test: a file makes a hundred of them. */
function dropped<T extends { drop(): Promise<void> }>(opened: T): T {
  onTestFinished(() => opened.drop());
  return opened;
}

export const existing = async (options?: ExistingOptions): Promise<Existing> =>
  dropped(await openExisting(inject('connection'), options));

export const sample = async (): Promise<Existing> => dropped(await openSample(inject('connection')));

export const emptyTarget = async (): Promise<Target> => dropped(await freshDatabase(2));

export async function runImport(from: Existing, target: Target, options: Partial<ImportOptions> = {}) {
  await from.leave();
  const source = await openSource(from.connection, undefined);
  try {
    return await importDatabase(source, target, {
      dryRun: false,
      orphansTo: undefined,
      sourceInUse: false,
      files: false,
      key: 'in the settings',
      onRows: () => undefined,
      beforeTheEnd: () => Promise.resolve(),
      ...options,
    });
  } finally {
    await source.end();
  }
}

export interface Imported {
  target: Target;
  lines: Line[];
  rows<T extends Row = Row>(sql: string): Promise<T[]>;
  /** What was put aside: key and content. */
  remainders(rule: string): Promise<[string, unknown][]>;
}

/** What an import did that went well. */
export async function imported(from: Existing, options: Partial<ImportOptions> = {}): Promise<Imported> {
  const target = await emptyTarget();
  await runImport(from, target, options);
  const rows = async <T extends Row>(sql: string) => (await target.pool.query<T>(sql)).rows;
  const [{ report }] = (await rows<{ report: { rules: Line[] } }>('select report from imports')) as [
    { report: { rules: Line[] } },
  ];
  return {
    target,
    lines: report.rules,
    rows,
    async remainders(rule) {
      const kept = await rows<{ source_key: string; content: string }>(
        `select source_key, content::text from import_remainders where rule = ${pg.escapeLiteral(rule)} order by id`,
      );
      return kept.map(({ source_key, content }) => [source_key, JSON.parse(content) as unknown]);
    },
  };
}
