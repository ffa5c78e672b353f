/** `servicectl set-db`: the tables as this version needs them. */
import { migrate } from '../db/index.ts';
import { withWorkplace } from './tools.ts';

export async function setDb(): Promise<void> {
  await withWorkplace(async ({ db }) => {
    console.log('Bringing the database up to date');
    for (const name of await migrate(db)) console.error(`Applied ${name}`);
    console.log('The database is up to date');
  });
}
