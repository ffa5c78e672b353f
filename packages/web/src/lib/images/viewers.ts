/**
 * Where images and plates can be looked at. Viewers read through the image data service, so without it there are none.
 *
 *     imageLinks(viewersOf({ data: 'https://data.example.org', vizarr: 'https://vizarr.example.org' }), '/data/a.zarr/B/03/0')
 */

export interface ViewerAddresses {
  data?: string | undefined;
  vizarr?: string | undefined;
  vole?: string | undefined;
  explorer?: string | undefined;
}

export interface ViewerLink {
  name: string;
  href: string;
}

const withSlash = (address: string) => address.replace(/\/*$/, '/');

const given = (address: string | undefined): string | undefined =>
  address === undefined || address === '' ? undefined : withSlash(address);

/** Each address with exactly one slash at its end. */
export const viewersOf = (addresses: ViewerAddresses): ViewerAddresses => ({
  data: given(addresses.data),
  vizarr: given(addresses.vizarr),
  vole: given(addresses.vole),
  explorer: given(addresses.explorer),
});

const encoded = (path: string): string =>
  path.startsWith('s3://') ? `/${path}` : path.split('/').map(encodeURIComponent).join('/');

/** Where the image data service gives the files of an image or a plate. */
export const dataAddress = ({ data }: ViewerAddresses, path: string): string | undefined =>
  data === undefined ? undefined : `${data}files${encoded(path)}`;

export function imageLinks(viewers: ViewerAddresses, zarrUrl: string): ViewerLink[] {
  const source = dataAddress(viewers, zarrUrl);
  if (source === undefined) return [];
  return [
    ...(viewers.vizarr ? [{ name: 'Open in the viewer', href: `${viewers.vizarr}?source=${source}` }] : []),
    ...(viewers.vole ? [{ name: 'Open in the volume viewer', href: `${viewers.vole}viewer?url=${source}` }] : []),
  ];
}

export function plateLinks(viewers: ViewerAddresses, platePath: string): ViewerLink[] {
  const source = dataAddress(viewers, platePath);
  if (source === undefined) return [];
  return [
    ...(viewers.vizarr ? [{ name: 'Open in the viewer', href: `${viewers.vizarr}?source=${source}` }] : []),
    ...(viewers.explorer
      ? [{ name: 'Open in the feature explorer', href: `${viewers.explorer}?zarr_url=${source}&setup_mode=Plates` }]
      : []),
  ];
}

/** Whether plates can be opened anywhere. */
export const showsPlates = ({ data, vizarr, explorer }: ViewerAddresses): boolean =>
  data !== undefined && (vizarr !== undefined || explorer !== undefined);

/** A plate lies three folders above its images: row, column, image. Undefined where there are not as many. */
export function platePath(zarrUrl: string): string | undefined {
  const scheme = /^[a-z0-9]+:\/\//.exec(zarrUrl)?.[0] ?? '';
  const parts = zarrUrl.slice(scheme.length).split('/');
  const kept = parts.slice(0, -3);
  const path = kept.join('/');
  return kept.length === 0 || path === '' ? undefined : scheme + path;
}
