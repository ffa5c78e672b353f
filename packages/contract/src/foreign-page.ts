/**
 * Requests that a page of another web site makes a browser send: cookies travel with them, and their owner knows nothing of
 * it. Programs decide themselves what they send, so this concerns browsers alone.
 *
 * A browser says where a request comes from, in one of two ways that no page can change. `Sec-Fetch-Site` compares both
 * sides, but is left out on plain http and by old browsers. `Origin` names the page, and comes with everything but plain
 * reads; it is `null` where the page hides.
 */
export interface Sender {
  /** `Sec-Fetch-Site` */
  site: string | undefined;
  /** `Sec-Fetch-Mode` */
  mode: string | undefined;
  origin: string | undefined;
  userAgent: string | undefined;
}

export const senderOf = (header: (name: string) => string | undefined): Sender => ({
  site: header('sec-fetch-site'),
  mode: header('sec-fetch-mode'),
  origin: header('origin'),
  userAgent: header('user-agent'),
});

/** On plain http browsers leave out where a request comes from, but not what they are. */
export const isBrowser = ({ site, userAgent }: Sender): boolean =>
  site !== undefined || /^(Mozilla|Opera)\//.test(userAgent ?? '');

/** A host is written with and without the port that its scheme has anyway. */
function isOnHost(origin: string | undefined, host: string): boolean {
  const page = URL.parse(origin ?? '');
  if (page?.protocol !== 'http:' && page?.protocol !== 'https:') return false;
  return page.host === URL.parse(`${page.protocol}//${host}`)?.host;
}

export interface OwnSite {
  /** Host and port that the browser asked for. */
  host: string;
  /** Origins of other pages that may do everything. */
  trusted: readonly string[];
}

/** Whether a request that changes something has to be refused. What does not say where it comes from is foreign too. */
export function isOfForeignPage(sender: Sender, { host, trusted }: OwnSite): boolean {
  const { site, origin } = sender;
  if (!isBrowser(sender) || (origin !== undefined && trusted.includes(origin))) return false;
  // `none` is a person's own doing, or an extension's: the origin tells which
  if (site !== undefined && site !== 'none') return site !== 'same-origin';
  return !isOnHost(origin, host);
}
