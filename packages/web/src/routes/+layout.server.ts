import {
  SERVICE_DEFAULT_GROUP_NAME,
  SERVICE_DISPLAY_CORE_TASK_FILTER,
  SERVICE_HIDE_BASIC_AUTH,
  SERVICE_RUNNER_BACKEND,
} from '$app/env/private';

import { knownApiVersion } from '#lib/server/api.ts';
import { readBanner } from '#lib/server/operator-files.ts';

import { version } from '../../package.json';
import type { LayoutServerLoad } from './$types';

export const load: LayoutServerLoad = async ({ locals }) => {
  const { user, apiAlive, impersonating } = locals;
  return {
    user: user
      ? {
          id: user.id,
          email: user.email,
          is_superuser: user.is_superuser,
          is_guest: user.is_guest,
          is_verified: user.is_verified,
          profile_id: user.profile_id,
          project_dirs: user.project_dirs,
          slurm_accounts: user.slurm_accounts,
        }
      : null,
    settings: {
      runner: SERVICE_RUNNER_BACKEND,
      defaultGroup: SERVICE_DEFAULT_GROUP_NAME,
      coreFilter: SERVICE_DISPLAY_CORE_TASK_FILTER,
      hidePassword: SERVICE_HIDE_BASIC_AUTH,
    },
    apiAlive,
    impersonating,
    banner: await readBanner(),
    serverVersion: apiAlive ? await knownApiVersion() : undefined,
    clientVersion: version,
  };
};
