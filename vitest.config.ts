import { defineConfig } from 'vitest/config';

/** What the server does without a database. */
const ALONE = ['engine', 'runners', 'files', 'demo-tasks'].map(
  (folder) => `packages/server/test/${folder}/**/*.test.ts`,
);

/** The same files, once on the embedded database and once on a PostgreSQL server of the system. */
const serverOn = (database: 'embedded' | 'given') => ({
  test: {
    name: `server on ${database} database`,
    include: ['packages/server/test/**/*.test.ts'],
    exclude: ALONE,
    globalSetup: ['packages/server/test/support/database.ts'],
    provide: { kindOfDatabase: database },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

export default defineConfig({
  test: {
    maxWorkers: 2,
    reporters: ['default', './scripts/plain-reporter.ts'],
    projects: [
      { test: { name: 'contract', include: ['packages/contract/test/**/*.test.ts'] } },
      { test: { name: 'server alone', include: ALONE, testTimeout: 60_000, hookTimeout: 60_000 } },
      serverOn('embedded'),
      serverOn('given'),
      {
        test: {
          name: 'whole',
          include: ['tests/**/*.test.ts'],
          globalSetup: ['packages/server/test/support/database.ts'],
          provide: { kindOfDatabase: 'given' as const },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
