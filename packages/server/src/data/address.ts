/**
 * Which file an address asks for. It is read from the first line of the request as it came: a router joins repeated slashes
 * and decodes, and both can change what is meant.
 *
 *     readAddress('/data/', '/data/files/srv/plates/a.zarr/.zattrs')  // { path: '/srv/plates/a.zarr/.zattrs' }
 *     readAddress('/data/', '/data/files/s3://bucket/a.zarr')         // { path: 's3://bucket/a.zarr' }
 */

export type Address = { path: string } | { problem: string };

const NOT_ABSOLUTE = 'Give the absolute path of a file after "files", for example files/srv/plates/a.zarr/.zattrs.';
const BAD_PERCENT = 'The address has a percent sign that encodes nothing.';
const BAD_COMPONENT = 'A path has no "..", no backslash, no NUL and no encoded slash in it. Write it without them.';

/** A base with its slashes, `/data/`, as it may stand in a request. */
const prefixOf = (base: string) =>
  new RegExp(
    `^/+${base
      .split('/')
      .filter((part) => part !== '')
      .map((part) => part.replaceAll('.', '\\.'))
      .join('/+')}/+files(?=[/?#]|$)`,
  );

const isBad = (component: string) =>
  component === '..' || component.includes('/') || component.includes('\\') || component.includes('\0');

function decoded(text: string): string[] | undefined {
  try {
    return text.split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

export function readAddress(base: string, target: string): Address {
  const prefix = prefixOf(base).exec(target);
  const rest = prefix ? target.slice(prefix[0].length).split(/[?#]/, 1)[0]! : '';
  if (!rest.startsWith('/')) return { problem: NOT_ABSOLUTE };
  const components = decoded(rest);
  if (components === undefined) return { problem: BAD_PERCENT };
  if (components.some(isBad)) return { problem: BAD_COMPONENT };
  const kept = components.filter((component) => component !== '' && component !== '.');
  if (kept[0] === 's3:') return { path: `s3://${kept.slice(1).join('/')}` };
  return { path: `/${kept.join('/')}` };
}
