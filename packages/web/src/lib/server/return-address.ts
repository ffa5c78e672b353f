/** Where to go after sign-in: back to a page of ours, never to another site. */
const HOME = '/v2/projects';

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

/** The page after sign-in. An administrator without a profile could only see a refusal on the list of projects. */
export function landingPage(
  next: string | null | undefined,
  user: { is_superuser: boolean; profile_id: number | null } | undefined,
): string {
  return ownAddress(next) ?? (user?.is_superuser && user.profile_id === null ? '/v2/admin' : HOME);
}
