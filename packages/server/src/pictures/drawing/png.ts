/** PNG files: one byte (grey) or four bytes (colour and cover) for each pixel, without loss. */
import { promisify } from 'node:util';
import { constants, crc32, deflate } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const KINDS = { 1: 0, 4: 6 } as const;
/** Each byte is written as the difference to the pixel before it: that packs better. */
const DIFFERENCES = 1;

const pack = promisify(deflate);

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(content.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

function lines(bytes: Uint8Array, width: number, height: number, perPixel: number): Buffer {
  const length = width * perPixel;
  const written = Buffer.allocUnsafe((length + 1) * height);
  for (let y = 0; y < height; y++) {
    const [from, to] = [y * length, y * (length + 1) + 1];
    written[to - 1] = DIFFERENCES;
    for (let x = 0; x < length; x++) {
      written[to + x] = bytes[from + x]! - (x < perPixel ? 0 : bytes[from + x - perPixel]!);
    }
  }
  return written;
}

export async function encodePng(bytes: Uint8Array, width: number, height: number): Promise<Buffer> {
  const perPixel = bytes.length / (width * height);
  if (perPixel !== 1 && perPixel !== 4) throw new Error('A picture has one or four bytes for each pixel.');
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, KINDS[perPixel], 0, 0, 0], 8);
  const packed = await pack(lines(bytes, width, height, perPixel), { level: 3, strategy: constants.Z_FILTERED });
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', packed), chunk('IEND', Buffer.alloc(0))]);
}
