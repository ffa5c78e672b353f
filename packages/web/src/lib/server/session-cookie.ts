/** The session cookie as data: its attributes, and what the token in it says. */

export interface CookieSettings {
  name: string;
  /** Undefined: as the scheme of the request. */
  secure: boolean | undefined;
  /** Undefined: the host name of the request. */
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
  const host = bound ? undefined : (settings.domain ?? url.hostname);
  return {
    httpOnly: true,
    secure: bound || (settings.secure ?? url.protocol === 'https:'),
    // an IPv6 address cannot be a domain
    ...(host === undefined || host.startsWith('[') ? {} : { domain: host }),
    path: settings.path,
    sameSite: settings.sameSite,
  };
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
