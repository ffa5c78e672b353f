/** Bytes become lines, wherever their pieces begin and end, and memory is used again. */
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { createLines, type Lines } from '../../src/runners/lines.ts';

const unlimited = () => createLines({ longest: () => Infinity });

function taken(lines: Lines, pieces: Buffer[]): string[] {
  const heard: string[] = [];
  for (const piece of pieces) lines.take(piece, (line) => void heard.push(line.toString('latin1')));
  return heard;
}

/** Pieces of a text, of these sizes in turn. */
function* piecesOf(text: string, sizes: number[]): Generator<Buffer> {
  for (let [at, turn] = [0, 0]; at < text.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    yield Buffer.from(text.slice(at, at + size), 'latin1');
    at += size;
  }
}

it('several are read at a time, each as it was written', () => {
  const long = fc.nat({ max: 200_000 }).map((length) => 'x'.repeat(length));
  const line = fc.oneof(fc.string({ unit: 'binary-ascii' }), long).map((text) => text.replaceAll('\n', ''));
  fc.assert(
    fc.property(
      fc.array(fc.array(line, { maxLength: 6 }), { minLength: 1, maxLength: 3 }),
      fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 5 }),
      (texts, sizes) => {
        const readers = texts.map((written) => ({
          written,
          lines: unlimited(),
          pieces: [...piecesOf(written.map((one) => `${one}\n`).join(''), sizes)],
          heard: [] as string[],
        }));
        // in turns, so that one may find what the others left
        for (let turn = 0; readers.some(({ pieces }) => turn < pieces.length); turn++) {
          for (const { lines, pieces, heard } of readers) heard.push(...taken(lines, pieces.slice(turn, turn + 1)));
        }
        expect(readers.map(({ heard }) => heard)).toEqual(texts);
        expect(readers.map(({ lines }) => lines.waiting())).toEqual(texts.map(() => 0));
      },
    ),
  );
});

it('one that listens may read lines itself', () => {
  const [outer, inner, heard] = [unlimited(), unlimited(), [] as string[]];
  const feed = (lines: Lines, text: string, onLine: (line: Buffer) => void) => {
    lines.take(Buffer.from(text.slice(0, 3)), onLine);
    lines.take(Buffer.from(`${text.slice(3)}\n`), onLine);
  };
  feed(outer, 'outer line', (line) => {
    feed(inner, 'another one', (other) => void heard.push(other.toString()));
    heard.push(line.toString());
  });
  expect(heard).toEqual(['another one', 'outer line']);
});

it('a line without an end is refused as soon as it is too long, and nothing of it is left', () => {
  const lines = createLines({ longest: () => 100_000 });
  const piece = Buffer.alloc(60_000, 'x');
  expect([lines.take(piece, () => {}), lines.waiting()]).toEqual([true, 60_000]);
  expect([lines.take(piece, () => {}), lines.waiting()]).toEqual([false, 0]);
  expect(taken(lines, [Buffer.from('and on\n')])).toEqual(['and on']);
});

it('what reads gigabytes takes no memory for them', () => {
  const lines = unlimited();
  const chunk = Buffer.alloc(2 ** 16, 'x');
  const end = Buffer.from('\n');
  const megabyte = () => {
    for (let turn = 0; turn < 16; turn++) lines.take(chunk, () => {});
    lines.take(end, () => {});
  };
  megabyte();
  const before = process.memoryUsage().arrayBuffers;
  for (let turn = 0; turn < 500; turn++) megabyte();
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 2 ** 20);
});

it('the memory of a long line is given back at once', () => {
  const MEBIBYTE = 2 ** 20;
  const piece = Buffer.alloc(MEBIBYTE, 'x');
  const lines = unlimited();
  const held = () => process.memoryUsage().arrayBuffers;
  const lengths: number[] = [];
  for (const end of [() => lines.forget(), () => lines.take(Buffer.from('\n'), ({ length }) => lengths.push(length))]) {
    for (let count = 0; count < 64; count++) lines.take(piece, () => undefined);
    const before = held();
    end();
    // some of it waits for the next line
    expect(before - held()).toBeGreaterThan(50 * MEBIBYTE);
  }
  expect(lengths).toEqual([64 * MEBIBYTE]);
});
