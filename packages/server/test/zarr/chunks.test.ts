/** Chunks of arrays, as they are unpacked. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { unpackBlosc } from '../../src/zarr/blosc.ts';
import { unpackLz4 } from '../../src/zarr/lz4.ts';

describe('chunks', () => {
  it('unpack from LZ4, also where a match reaches into itself', () => {
    const to = new Uint8Array(20);
    unpackLz4(Uint8Array.from([0x1b, 65, 1, 0, 0x40, 66, 67, 68, 69]), to);
    expect(Buffer.from(to).toString()).toBe(`${'A'.repeat(16)}BCDE`);
  });

  it('of any bytes fail or give only what was written for them', () => {
    const header = (flags: number) => {
      const bytes = Buffer.alloc(16);
      bytes.set([2, 1, flags, 2]);
      bytes.writeUInt32LE(512, 4);
      bytes.writeUInt32LE(512, 8);
      return bytes;
    };
    const flags = fc.constantFrom(0x00, 0x01, 0x11, 0x21, 0x31, 0x24, 0x61, 0x81, 0x02, 0xe1);
    let unpacked = 0;
    fc.assert(
      fc.property(flags, fc.uint8Array({ minLength: 0, maxLength: 200 }), (flag, noise) => {
        const chunk = Buffer.concat([header(flag), Buffer.from([20, 0, 0, 0]), noise]);
        chunk.writeUInt32LE(chunk.length, 12);
        try {
          expect(unpackBlosc(chunk).length).toBe(512);
          unpacked++;
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
      { numRuns: 5000 },
    );
    expect(unpacked).toBeLessThan(5000);
  });
});
