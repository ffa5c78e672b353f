/** Who may open which page. */
import type { User } from '@service/contract';

import { area, endpoint, isBelow, route } from '../route.ts';

export type Verdict = { redirect: string } | { refused: string } | undefined;

export interface Visit {
  pathname: string;
  /** Path and query to come back to, for what can be opened again. */
  address?: string | undefined;
  apiAlive: boolean;
  user: User | undefined;
}

export const ONLY_ADMINISTRATORS = 'Only administrators can open this page.';

const isPublic = (pathname: string) =>
  pathname === route.home() || [area.auth, endpoint.alive, area.help].some((above) => isBelow(pathname, above));

/** Has what every page beyond home needs. An administrator can give it to himself, in the admin area. */
const isAuthorised = (user: User) => user.is_superuser || (user.profile_id !== null && user.is_verified);

export function guard({ pathname, address, apiAlive, user }: Visit): Verdict {
  if (isPublic(pathname)) return undefined;
  if (!apiAlive) return { redirect: route.home({ invalidate: true }) };
  if (user === undefined) {
    return { redirect: route.signIn({ invalidate: true, next: address }) };
  }
  if (!isAuthorised(user)) return { redirect: route.home() };
  if (isBelow(pathname, area.admin) && !user.is_superuser) return { refused: ONLY_ADMINISTRATORS };
  return undefined;
}

/** The same for addresses that only scripts ask. They would follow a redirect and take a page for the answer. */
export function refusalForScripts({ apiAlive, user }: Pick<Visit, 'apiAlive' | 'user'>): [status: number, why: string] {
  if (!apiAlive) return [503, 'The service does not answer. Try again in a minute.'];
  if (user === undefined) return [401, 'Sign in first.'];
  return [403, 'Your account is not ready yet. Contact your administrator.'];
}
