/** Where to go after sign-in: back to a page of ours, never to another site. */
import { area, isBelow, route } from '../route.ts';

/** The path and query of an own page, or undefined for everything else that may stand in the address bar. */
export function ownAddress(value: string | null | undefined): string | undefined {
  if (!value?.startsWith('/')) return undefined;
  // browsers read "/\" and "/<tab>/" as "//", the beginning of another site's address
  const base = 'http://own.invalid';
  const url = URL.parse(value, base);
  if (url?.origin !== base || url.pathname.startsWith('//')) return undefined;
  if (/^\/(auth|api)(\/|$)/.test(url.pathname)) return undefined;
  return url.pathname + url.search;
}

/** Pages that an administrator without a profile can see; on others there is only a refusal. */
const isForAll = (address: string) => {
  const [pathname] = address.split('?') as [string];
  return pathname === route.home() || [area.help, route.profile(), area.admin].some((one) => isBelow(pathname, one));
};

/** The page after sign-in. Guests have nothing of their own, so they begin with what is shared. */
export function landingPage(
  next: string | null | undefined,
  user: { is_superuser: boolean; is_guest: boolean; profile_id: number | null } | undefined,
): string {
  const address = ownAddress(next);
  const isWithoutProfile = user?.is_superuser === true && user.profile_id === null;
  if (address !== undefined && (!isWithoutProfile || isForAll(address))) return address;
  if (isWithoutProfile) return route.admin.overview();
  return route.projects(user?.is_guest ? { show: 'shared' } : {});
}
