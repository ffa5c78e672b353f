import { defineConfig } from 'vitest/config';

/** The same files, once on the embedded database and once on a PostgreSQL server of the system. */
const serverOn = (database: 'embedded' | 'given') => ({
  test: {
    name: `server on ${database} database`,
    include: ['packages/server/test/**/*.test.ts'],
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
