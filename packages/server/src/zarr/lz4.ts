/** LZ4 blocks, unpacked into room of a known size. Whatever the bytes say, nothing outside of it is read or written. */

const damaged = () => new Error('is no LZ4 block');

/** Reads a length that goes on while its bytes are 255. Gives the length and where it ends. */
function longer(from: Uint8Array, at: number, length: number): [length: number, at: number] {
  for (;;) {
    const more = from[at++];
    if (more === undefined) throw damaged();
    length += more;
    if (more !== 255) return [length, at];
  }
}

/** Copies what was written `distance` before; it may reach into what is being written. */
export function repeat(to: Uint8Array, at: number, distance: number, length: number): void {
  if (distance >= length) {
    to.copyWithin(at, at - distance, at - distance + length);
    return;
  }
  if (distance === 1) {
    to.fill(to[at - 1]!, at, at + length);
    return;
  }
  const end = at + length;
  for (; at < end; at++) to[at] = to[at - distance]!;
}

/** Fills `to`, no more and no less. */
export function unpackLz4(from: Uint8Array, to: Uint8Array): void {
  let [at, written] = [0, 0];
  while (at < from.length) {
    const token = from[at++]!;
    let literals = token >> 4;
    if (literals === 15) [literals, at] = longer(from, at, literals);
    if (at + literals > from.length || written + literals > to.length) throw damaged();
    to.set(from.subarray(at, at + literals), written);
    at += literals;
    written += literals;
    // the last part has no match
    if (at === from.length) break;
    const distance = from[at]! | ((from[at + 1] ?? 0) << 8);
    at += 2;
    let length = (token & 15) + 4;
    if (length === 19) [length, at] = longer(from, at, length);
    if (distance === 0 || distance > written || written + length > to.length) throw damaged();
    repeat(to, written, distance, length);
    written += length;
  }
  if (written !== to.length) throw damaged();
}
