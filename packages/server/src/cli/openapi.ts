/** `servicectl openapi`: the description of the API, as these settings make it. */
import { writeFileSync } from 'node:fs';

import type { Provider } from '../accounts/index.ts';
import { openDatabase } from '../db/index.ts';
import { createService } from '../service.ts';
import { loadSettings, loggingFor } from '../workplace.ts';

/** Nobody signs in while a file is written, so no provider is asked. */
const unasked = () => Promise.reject(new Error('no sign-in here'));
const noProvider: Provider = { authorizationUrl: unasked, exchange: unasked, account: unasked };

export async function openapi({ openapiFile }: { openapiFile: string }): Promise<void> {
  const settings = loadSettings();
  // The pool connects when something is asked of it, and nothing is.
  const nowhere = { host: '127.0.0.1', port: 1, user: undefined, password: undefined, database: 'none' };
  const database = openDatabase(nowhere, { connections: 1 });
  const app = await createService({
    settings,
    database,
    logging: loggingFor(settings),
    provider: noProvider,
    background: false,
  });
  const { body } = await app.inject('/openapi.json');
  writeFileSync(openapiFile, body);
  await app.close();
  await database.close();
  console.log(`Wrote ${openapiFile}`);
}
