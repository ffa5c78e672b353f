import { expect, it } from 'vitest';

import { contradiction, typeFiltersFlow } from '../../src/engine/type-filters.ts';

it.each([
  [{}, {}, undefined],
  [{ a: true }, { b: false }, undefined],
  [{ a: true }, { a: true }, undefined],
  [{ a: true, b: true }, { a: true, b: false }, 'b'],
  [{}, { toString: true }, undefined],
])('input types %j and filters %j contradict in %j', (inputTypes, filters, key) => {
  expect(contradiction(inputTypes as Record<string, boolean>, filters as Record<string, boolean>)).toBe(key);
});

it('hands on what tasks make, the later one overruling, and never what they take', () => {
  const task = (id: number, input_types: object, type_filters: object, output_types: object) =>
    ({ id, input_types, type_filters, output_types }) as Parameters<typeof typeFiltersFlow>[0][number];
  const flow = typeFiltersFlow([
    task(1, { is_2D: true }, { x: true }, { a: true }),
    task(2, {}, {}, { a: false, b: true }),
    task(3, { b: true }, { b: true, c: false }, {}),
  ]);
  expect(flow).toEqual([
    {
      workflowtask_id: 1,
      current_type_filters: {},
      input_type_filters: { is_2D: true, x: true },
      output_type_filters: { a: true },
    },
    {
      workflowtask_id: 2,
      current_type_filters: { a: true },
      input_type_filters: {},
      output_type_filters: { a: false, b: true },
    },
    {
      workflowtask_id: 3,
      current_type_filters: { a: false, b: true },
      input_type_filters: { b: true, c: false },
      output_type_filters: {},
    },
  ]);
  expect(typeFiltersFlow([])).toEqual([]);
});
