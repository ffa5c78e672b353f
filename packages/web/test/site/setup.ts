/** One service with its web client for all files of this folder; or a running one: SITE=<web> SITE_API=<API>. */
import type { TestProject } from 'vitest/node';

import { clientOf } from '../../../server/test/support/server.ts';
import { remove, startService, temporaryFolder } from '../../../../tests/support/processes.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** `folder` is for what people keep. */
    site: { web: string; api: string; password: string; resets: boolean; folder: string };
  }
}

const PASSWORD = 'admin-password-1';

/** Whether the site lets administrators reset task groups, which is off where nobody switched it on. */
async function resets(api: string): Promise<boolean> {
  const form = new URLSearchParams({ username: 'admin@example.org', password: PASSWORD });
  const { body } = await clientOf(api).raw('/auth/token/login/', { method: 'POST', body: form });
  const settings = await clientOf(api, body.access_token as string).get('/api/settings/app/');
  return settings.body.SERVICE_ENABLE_TASK_GROUP_RESET === 'true';
}

export default async function (project: TestProject): Promise<() => Promise<void>> {
  const { SITE, SITE_API } = process.env;
  const folder = temporaryFolder('people');
  if (SITE !== undefined) {
    const api = SITE_API ?? SITE;
    project.provide('site', { web: SITE, api, password: PASSWORD, resets: await resets(api), folder });
    return () => Promise.resolve(remove(folder));
  }
  const data = temporaryFolder('site');
  const service = startService(['--port', '0', '--data-dir', data, '--admin-pwd', PASSWORD], {
    environment: { SERVICE_WEB_CLIENT: 'true', SERVICE_ENABLE_TASK_GROUP_RESET: 'true' },
  });
  const [, address] = await service.said(/answers at (http:\/\/\S+)/);
  project.provide('site', { web: address!, api: address!, password: PASSWORD, resets: true, folder });
  return async () => {
    service.process.kill('SIGTERM');
    await service.ended;
    remove(data);
    remove(folder);
  };
}
