/**
 * Blosc chunks are looked at before they are unpacked. For one that is cut off, half written for instance, the codec says
 * nothing and gives what was in its memory before, which would be shown as pixels. Loading this file sets it up.
 */
import { registry } from 'zarrita';

const HEADER = 16;

/** A chunk says in front how long it is. */
export function checkBlosc(bytes: Uint8Array): void {
  const isCut =
    bytes.length < HEADER ||
    new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(12, true) !== bytes.length;
  if (isCut) throw new Error('it is damaged, or only half written');
}

/** Zarr 3 and Zarr 2 have their own names for it. */
for (const name of ['blosc', 'numcodecs.blosc']) {
  const load = registry.get(name)!;
  registry.set(name, async () => {
    const Blosc = await load();
    return {
      ...(Blosc.kind ? { kind: Blosc.kind } : {}),
      fromConfig(config, meta) {
        const codec = Blosc.fromConfig(config, meta);
        return {
          kind: codec.kind,
          encode: (bytes) => codec.encode(bytes),
          decode(bytes, out) {
            checkBlosc(bytes);
            return codec.decode(bytes, out);
          },
        };
      },
    };
  });
}
