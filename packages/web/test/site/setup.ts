/** One service with its web client for all files of this folder; or a running one: SITE=<web> SITE_API=<API>. */
import type { TestProject } from 'vitest/node';

import { remove, startService, temporaryFolder } from '../../../../tests/support/processes.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    site: { web: string; api: string; password: string };
  }
}

const PASSWORD = 'admin-password-1';

export default async function (project: TestProject): Promise<() => Promise<void>> {
  const { SITE, SITE_API } = process.env;
  if (SITE !== undefined) {
    project.provide('site', { web: SITE, api: SITE_API ?? SITE, password: PASSWORD });
    return () => Promise.resolve();
  }
  const folder = temporaryFolder('site');
  const service = startService(['--port', '0', '--data-dir', folder, '--admin-pwd', PASSWORD], {
    environment: { SERVICE_WEB_CLIENT: 'true' },
  });
  const [, address] = await service.said(/answers at (http:\/\/\S+)/);
  project.provide('site', { web: address!, api: address!, password: PASSWORD });
  return async () => {
    service.process.kill('SIGTERM');
    await service.ended;
    remove(folder);
  };
}
