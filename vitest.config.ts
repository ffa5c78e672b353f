import { svelte } from '@sveltejs/vite-plugin-svelte';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';

import { operations } from './packages/web/operations-plugin.ts';
import { LAUNCH } from './tests/support/browser.ts';

const inServer = (name: string) => `packages/server/test/${name}.test.ts`;
const everyFileOf = (folder: string) => `${folder}/**/*`;

/** What the server does without a database: whole rooms, and single files of rooms whose other files have one. */
const ALONE = [
  ...['demo-tasks', 'engine', 'jobs/files', 'pictures/drawing', 'runners', 'slurm', 'zarr'].map(everyFileOf),
  ...['hosts/output', 'http/body-pieces', 'http/line', 'http/long-answers'],
].map(inServer);

/** What takes long and asks the database in no other way, or not at all: twice in long runs only. */
const LONG_TWICE = process.env['LONG']
  ? []
  : [
      ...['accounts', 'audit', 'data', 'doors', 'hosts', 'http', 'jobs', 'logging', 'mail', 'overview', 'pictures'].map(
        everyFileOf,
      ),
      ...['projects', 'queue', 'settings', 'tables', 'tasks'].map(everyFileOf),
    ].map(inServer);

/** What makes and drops many databases: on one kind. */
const ONCE = process.env['LONG'] ? [] : [inServer(everyFileOf('import'))];

/** What a file leaves behind goes with it. */
const EACH_FILE = ['packages/server/test/support/each-file.ts'];

/** Looking costs time that others could use: a page is asked through a browser. */
const looking = (interval: number) => ({ expect: { poll: { timeout: 20_000, interval } } });

/** On a busy machine, what a test waits for may come late; a test that waits in vain still ends. */
const PATIENT = { ...looking(100), testTimeout: 60_000, hookTimeout: 60_000 };

/** The same files, once on the embedded database and once on a PostgreSQL server of the system. */
const serverOn = (database: 'embedded' | 'given') => ({
  test: {
    ...PATIENT,
    name: `server on ${database} database`,
    include: ['packages/server/test/**/*.test.ts'],
    exclude: [...ALONE, ...(database === 'given' ? LONG_TWICE : ONCE)],
    globalSetup: ['packages/server/test/support/database.ts'],
    setupFiles: EACH_FILE,
    isolate: false,
    provide: { kindOfDatabase: database },
  },
});

export default defineConfig({
  test: {
    maxWorkers: 2,
    reporters: ['default', './scripts/plain-reporter.ts'],
    projects: [
      // rules without state: nothing to keep apart
      { test: { ...PATIENT, name: 'contract', include: ['packages/contract/test/**/*.test.ts'], isolate: false } },
      {
        test: {
          ...PATIENT,
          name: 'server alone',
          include: ALONE,
          isolate: false,
          setupFiles: EACH_FILE,
        },
      },
      {
        plugins: [operations()],
        test: {
          ...PATIENT,
          name: 'web',
          isolate: false,
          setupFiles: EACH_FILE,
          include: ['packages/web/test/**/*.test.ts'],
          exclude: ['**/*.browser.test.ts', 'packages/web/test/site/**'],
        },
      },
      {
        plugins: [svelte(), operations()],
        // found in the middle of a run, it would have everything loaded a second time
        optimizeDeps: { include: ['@cfworker/json-schema'] },
        test: {
          ...PATIENT,
          name: 'web in a browser',
          include: ['packages/web/test/**/*.browser.test.ts'],
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({ launchOptions: LAUNCH }),
            instances: [{ browser: 'chromium' as const }],
          },
        },
      },
      {
        test: {
          ...PATIENT,
          ...looking(250),
          name: 'site',
          // one browser and one set of modules for the files of a worker
          isolate: false,
          setupFiles: EACH_FILE,
          include: ['packages/web/test/site/**/*.test.ts'],
          globalSetup: ['packages/web/test/site/setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 240_000,
        },
      },
      serverOn('embedded'),
      serverOn('given'),
      {
        test: {
          ...PATIENT,
          name: 'whole',
          include: ['tests/**/*.test.ts'],
          exclude: ['tests/cluster/**'],
          isolate: false,
          globalSetup: ['packages/server/test/support/database.ts'],
          setupFiles: EACH_FILE,
          provide: { kindOfDatabase: 'given' as const },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...PATIENT,
          name: 'cluster',
          include: ['tests/cluster/**/*.test.ts'],
          globalSetup: ['tests/cluster/support/setup.ts', 'packages/server/test/support/database.ts'],
          setupFiles: EACH_FILE,
          provide: { kindOfDatabase: 'given' as const },
          isolate: false,
          // there is one cluster
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
