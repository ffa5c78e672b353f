import { describe, expect, it } from 'vitest';

import { type JsonObject, parseJson } from '@service/contract';

import { metaOnInsertion, metaOnReplacement, sameJson } from '../../src/engine/task-meta.ts';

describe('configuration of a new workflow task', () => {
  it.each<[JsonObject | null, JsonObject | null, JsonObject | null]>([
    [
      { a: 1, b: 2 },
      { b: 5, q: 1 },
      { a: 1, b: 5, q: 1 },
    ],
    [{}, null, null],
    [{}, {}, null],
    [null, null, null],
    [null, { q: 1 }, { q: 1 }],
    [{ a: 1 }, null, { a: 1 }],
    [{ a: { x: 1, y: 2 } }, { a: { x: 3 } }, { a: { x: 3 } }],
  ])('task %j, given %j: %j', (ofTask, given, meta) => {
    expect(metaOnInsertion(ofTask, given)).toEqual(meta);
  });
});

describe('configuration after another task took the place', () => {
  it.each<[JsonObject | null, JsonObject | null, JsonObject | null, JsonObject | null]>([
    [
      { a: 1, b: 2 },
      { a: 7, b: 2 },
      { a: 10, z: 9 },
      { a: 7, z: 9 },
    ],
    [
      { mem: 6000, cpus_per_task: 1, needs_gpu: true },
      { mem: 6000, cpus_per_task: 2 },
      { needs_luck: true },
      { cpus_per_task: 2, needs_luck: true },
    ],
    [null, { a: 1 }, { b: 2 }, { a: 1 }],
    [null, null, { b: 2 }, null],
    [{ a: 1 }, null, { b: 2 }, { b: 2 }],
    [{ a: 1 }, null, null, null],
    [{ a: 1 }, { a: 1 }, null, {}],
    [{ a: 1 }, {}, { a: 3, b: 2 }, { b: 2 }],
    [{ a: { x: [1, 2] } }, { a: { x: [1, 2] } }, { a: 5 }, { a: 5 }],
    [{ a: { x: [1, 2] } }, { a: { x: [2, 1] } }, { a: 5 }, { a: { x: [2, 1] } }],
  ])('old task %j, stored %j, new task %j: %j', (before, stored, after, meta) => {
    expect(metaOnReplacement({ before, stored, after })).toEqual(meta);
  });
});

describe('equal configuration', () => {
  it.each([
    ['1', '1.0', true],
    ['1', '1e0', true],
    ['12345678901234567890', '12345678901234567891', false],
    ['12345678901234567890', '12345678901234567890', true],
    ['{"a": 1, "b": [0.50]}', '{"b": [0.5], "a": 1.0}', true],
    ['{"a": 1}', '{"a": 1, "b": null}', false],
    ['[1, 2]', '[1]', false],
    ['{}', '[]', false],
    ['null', '{}', false],
    ['1', '"1"', false],
    ['true', '1', false],
    ['-0', '0', true],
  ])('%s and %s: %s', (one, other, same) => {
    expect(sameJson(parseJson(one), parseJson(other))).toBe(same);
  });
});
