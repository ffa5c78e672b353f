import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch }) => {
  const [app, database, email, oauth] = await Promise.all([
    call('accounts.settingsApp', {}, { fetch }),
    call('accounts.settingsDatabase', {}, { fetch }),
    call('accounts.settingsEmail', {}, { fetch }),
    call('accounts.settingsOauth', {}, { fetch }),
  ]);
  return { parts: { Service: app, Database: database, 'E-mail': email, 'External sign-in': oauth } };
};
