/** `servicectl submissions-disable` and `submissions-enable`. */
import { plural } from '@service/contract/plural';

import { preventSubmissions } from '../accounts/index.ts';
import { operator } from '../audit/index.ts';
import { withWorkplace } from './tools.ts';

export async function setSubmissions(prevent: boolean): Promise<void> {
  await withWorkplace(async ({ db }) => {
    const count = await preventSubmissions(db, operator('servicectl'), prevent);
    console.log(`New jobs are ${prevent ? 'refused' : 'accepted'} on ${count} ${plural(count, 'resource')} now.`);
  });
}
