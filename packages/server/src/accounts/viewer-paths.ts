/** The folders whose images a person may look at; a companion service that streams image data asks for them. */
import type { User } from '@service/contract';

import type { Database } from '../db/index.ts';
import type { Settings } from '../settings/index.ts';
import { profileInfo } from './store/users.ts';

type ViewerSettings = Pick<Settings['app'], 'SERVICE_VIEWER_AUTHORIZATION_SCHEME' | 'SERVICE_VIEWER_BASE_FOLDER'>;

export async function viewerPaths(db: Database, user: User, settings: ViewerSettings): Promise<string[]> {
  const scheme = settings.SERVICE_VIEWER_AUTHORIZATION_SCHEME;
  if (scheme === 'none') return [];
  if (scheme === 'viewer-paths') return user.project_dirs;
  const username = (await profileInfo(db, user.id))?.username ?? null;
  const own = username === null ? [] : [`${settings.SERVICE_VIEWER_BASE_FOLDER}/${username}`];
  return [...user.project_dirs, ...own];
}
