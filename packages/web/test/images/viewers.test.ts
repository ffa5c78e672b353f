import { describe, expect, it } from 'vitest';

import {
  dataAddress,
  imageLinks,
  plateLinks,
  platePath,
  showsPlates,
  viewersOf,
} from '../../src/lib/images/viewers.ts';

const all = viewersOf({
  data: 'https://data.example.org/d',
  vizarr: 'https://vizarr.example.org//',
  vole: 'https://vole.example.org/',
  explorer: 'https://explorer.example.org',
});

describe('links to viewers', () => {
  it('of an image name its files, with one slash after each base', () => {
    expect(imageLinks(all, '/data/my plate.zarr/B/03/0').map(({ href }) => href)).toEqual([
      'https://vizarr.example.org/?source=https://data.example.org/d/files/data/my%20plate.zarr/B/03/0',
      'https://vole.example.org/viewer?url=https://data.example.org/d/files/data/my%20plate.zarr/B/03/0',
    ]);
  });

  it('of a plate', () => {
    expect(plateLinks(all, '/data/p.zarr').map(({ href }) => href)).toEqual([
      'https://vizarr.example.org/?source=https://data.example.org/d/files/data/p.zarr',
      'https://explorer.example.org/?zarr_url=https://data.example.org/d/files/data/p.zarr&setup_mode=Plates',
    ]);
  });

  it('keep the address of a bucket as it is', () => {
    expect(dataAddress(all, 's3://bucket/my plate.zarr')).toBe(
      'https://data.example.org/d/files/s3://bucket/my plate.zarr',
    );
  });

  it('are not there without the image data service', () => {
    const none = viewersOf({ data: '', vizarr: 'https://vizarr.example.org' });
    expect(imageLinks(none, '/data/p.zarr/B/03/0')).toEqual([]);
    expect(showsPlates(none)).toBe(false);
    expect(showsPlates(viewersOf({ data: 'https://data.example.org', vole: 'https://vole.example.org' }))).toBe(false);
  });
});

describe('the plate of an image', () => {
  it('lies three folders above it', () => {
    expect(platePath('/data/p.zarr/B/03/0')).toBe('/data/p.zarr');
    expect(platePath('s3://bucket/p.zarr/B/03/0')).toBe('s3://bucket/p.zarr');
  });

  it('is not known where there are too few folders', () => {
    expect(platePath('/B/03/0')).toBeUndefined();
    expect(platePath('s3://B/03/0')).toBeUndefined();
    expect(platePath('')).toBeUndefined();
  });
});
