/** Headers of every answer of the web server. */

const SECURITY_HEADERS: Record<string, string> = {
  'x-frame-options': 'deny',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'geolocation=(), camera=(), microphone=(), interest-cohort=()',
  'x-dns-prefetch-control': 'off',
};

/** What has not said how long it may be kept is asked for again; answers differ from person to person. */
const OF_PAGES: Record<string, string> = { ...SECURITY_HEADERS, 'cache-control': 'private, no-cache' };
/** Whoever came over TLS once comes back over TLS. Other names below this host are not ours to decide about. */
const OVER_TLS = { 'strict-transport-security': 'max-age=31536000' };

export const isOfTheApi = (pathname: string) => /^\/api(\/|$)/.test(pathname);

/** Answers of the API are passed on as they are. The address is what the request has in its first line. */
export function headersFor(address: string, overTls: boolean): Record<string, string> {
  const pathname = URL.parse(`http://own.invalid${address}`)?.pathname ?? address;
  return { ...(isOfTheApi(pathname) ? {} : OF_PAGES), ...(overTls ? OVER_TLS : {}) };
}

/** Services of the operator that pages talk to, as URLs or own paths. */
export interface Companions {
  data: string | undefined;
  help: string | undefined;
}

const originsOf = (...addresses: (string | undefined)[]) =>
  addresses.flatMap((address) => URL.parse(address ?? '')?.origin ?? []);

function allow(policy: string, directive: string, origins: string[]): string {
  const directives = policy.split(';').map((one) => one.trim());
  const at = directives.findIndex((one) => one.split(' ')[0] === directive);
  const before = at < 0 ? `${directive} 'self'` : directives[at]!;
  const after = [before, ...origins].join(' ');
  return (at < 0 ? [...directives, after] : directives.with(at, after)).filter((one) => one !== '').join('; ');
}

/** Which companions there are is only known at the start, so they are added to the policy of the build. */
export function withCompanions(policy: string, { data, help }: Companions): string {
  return allow(allow(policy, 'connect-src', originsOf(data)), 'frame-src', originsOf(help));
}
