/** `servicectl update-db-data`: changes of stored data that go with a version. */
import { createInterface } from 'node:readline/promises';

import { VERSION } from '../version.ts';
import type { Workplace } from '../workplace.ts';
import { CommandFailed, withWorkplace } from './tools.ts';

/** By version, `MAJOR.MINOR.PATCH`. Only the newest ones are kept; older data is updated by older versions. */
const DATA_MIGRATIONS: Record<string, (workplace: Workplace) => Promise<void>> = {};

const QUESTIONS = [
  'Was the version before this one running until now?',
  `Is ${VERSION} the version you want?`,
  'Did you run set-db with this version?',
  'Do you have a backup of the database?',
  'Change the data now?',
];

async function confirm(): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answers = terminal[Symbol.asyncIterator]();
  try {
    for (const question of QUESTIONS) {
      process.stdout.write(`${question} (yes/no) `);
      const { value } = await answers.next();
      if (value !== 'yes') throw new CommandFailed('Nothing was changed, since the answer was not yes.');
    }
  } finally {
    terminal.close();
  }
}

export async function updateDbData(): Promise<void> {
  console.log(`This changes stored data as version ${VERSION} needs it. Make a backup first.`);
  await confirm();
  const migration = DATA_MIGRATIONS[VERSION.replace(/[-+].*$/, '')];
  if (!migration) {
    console.log(`Version ${VERSION} needs no change of data.`);
    return;
  }
  await withWorkplace(migration);
  console.log('Done.');
}
