/** The session cookie as data: its attributes, and what the token in it says. */

export interface CookieSettings {
  name: string;
  /** Undefined: as the scheme of the request. */
  secure: boolean | undefined;
  /** Undefined: the host alone. */
  domain: string | undefined;
  path: string;
  sameSite: 'lax' | 'strict' | 'none';
}

export interface CookieAttributes {
  httpOnly: true;
  secure: boolean;
  domain?: string;
  path: string;
  sameSite: 'lax' | 'strict' | 'none';
}

/** The administrator's own token, while he looks at the service as somebody else. */
export const ownName = (name: string) => `${name}_own`;

/** What a browser keeps of its last sign-in. */
export const deviceName = (name: string) => `${name}_device`;

export function cookieAttributes(settings: CookieSettings, url: URL): CookieAttributes {
  const bound = settings.name.startsWith('__Host-');
  return {
    httpOnly: true,
    secure: bound || (settings.secure ?? url.protocol === 'https:'),
    ...(bound || settings.domain === undefined ? {} : { domain: settings.domain }),
    path: settings.path,
    sameSite: settings.sameSite,
  };
}

/**
 * The same cookie as browsers may still hold it from other settings, or from a version that always named the host as
 * domain: for them it is another cookie, which they would go on sending beside the new one. It has to go.
 */
export function earlierAttributes(settings: CookieSettings, url: URL): CookieAttributes[] {
  if (settings.name.startsWith('__Host-')) return [];
  const { domain: current, ...alone } = cookieAttributes(settings, url);
  // an IPv6 address cannot be a domain
  const named = url.hostname.startsWith('[') ? [] : [url.hostname];
  const domains = [undefined, ...named].filter((domain) => domain !== current);
  return domains.map((domain) => ({ ...alone, ...(domain === undefined ? {} : { domain }) }));
}

/** When a token ends, or undefined when it is no token. Whether it is genuine only the API knows. */
export function expiryOf(token: string): Date | undefined {
  try {
    const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp?: unknown };
    return typeof payload.exp === 'number' ? new Date(payload.exp * 1000) : undefined;
  } catch {
    return undefined;
  }
}

/** The value of a cookie among the Set-Cookie lines of an answer. */
export function cookieSetTo(lines: string[], name: string): string | undefined {
  const value = lines
    .map((line) => line.split(';')[0]!.trim())
    .findLast((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);
  return value?.replace(/^"(.*)"$/, '$1') || undefined;
}
