/** Long bodies are read from their files in pieces, and give what the whole would give. */
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { parsePieces } from '../../src/http/bodies/json.ts';
import { piecesOf } from '../../src/http/bodies/pieces.ts';

const folder = mkdtempSync(join(tmpdir(), 'pieces-'));
afterAll(() => rmSync(folder, { recursive: true }));

function read(content: string | Buffer) {
  const path = join(folder, 'body');
  writeFileSync(path, content);
  const length = Buffer.byteLength(content);
  return parsePieces(piecesOf({ fd: openSync(path, 'r'), length }));
}

const MB = 2 ** 20;

describe('piecesOf', () => {
  it.each([1, 2, 3, 4])('keeps characters whole that lie across two pieces, shifted by %i', (shift) => {
    const items = ['x'.repeat(shift), ...Array.from({ length: 300_000 }, (_, n) => `é${n}😀 中`)];
    const parsed = read(JSON.stringify(items)) as { value: string[] };
    expect(parsed.value.length).toBe(items.length);
    expect(parsed.value.findIndex((item, index) => item !== items[index])).toBe(-1);
  });

  it('reads texts longer than a piece', () => {
    const items = ['a'.repeat(5 * MB), 'é'.repeat(4 * MB), '\\'.repeat(3 * MB), '1'.repeat(20)];
    const parsed = read(JSON.stringify(items)) as { value: string[] };
    expect(parsed.value.map((item, index) => item === items[index])).toEqual([true, true, true, true]);
  });

  it('leaves out the mark in front', () => {
    expect(read('\uFEFF[1]')).toEqual({ value: [1], doubtful: false });
  });

  it('notices escapes that may stand for what cannot be stored', () => {
    expect(read('["\\u0000"]')).toMatchObject({ doubtful: true });
    expect(read('["\\n"]')).toMatchObject({ doubtful: false });
  });

  it.each([
    ['a text without an end that is longer than any', `["${'a'.repeat(20 * MB)}`, 413],
    ['what is not UTF-8', Buffer.concat([Buffer.from('["'), Buffer.alloc(3 * MB, 0xe9), Buffer.from('"]')]), 400],
    ['a character that is cut at the end', Buffer.from([0x22, 0xf0, 0x9f]), 400],
    ['what is not JSON', `[${'1,'.repeat(2 * MB)}]`, 422],
  ])('refuses %s', (_, content, status) => {
    const parsed = read(content) as { refusal: { status: number } };
    expect(parsed.refusal.status).toBe(status);
  });
});
