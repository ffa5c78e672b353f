import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseJson, type Scalar } from '@service/contract';

import {
  attributeTest,
  effectiveTypeFilters,
  nextTypeFilters,
  passesAttributes,
  passesTypes,
} from '../../src/engine/filters.ts';

type Flags = Record<string, boolean>;

describe('type filters', () => {
  it.each<[Flags, Flags, boolean]>([
    [{}, {}, true],
    [{ a: true }, {}, true],
    [{}, { a: false }, true],
    [{}, { a: true }, false],
    [{ a: true }, { a: true, b: false }, true],
    [{ a: true, b: true }, { a: true, b: false }, false],
    [{}, { constructor: true }, false],
    [{}, { constructor: false }, true],
  ])('types %j, filters %j: %s', (types, filters, passes) => {
    expect(passesTypes(types, filters)).toBe(passes);
  });

  it('are overruled by the task and by its place in the workflow', () => {
    expect(effectiveTypeFilters({ x: true, y: true }, { x: false }, { z: true })).toEqual({
      x: false,
      y: true,
      z: true,
    });
    expect(effectiveTypeFilters({}, { x: false }, { x: true })).toEqual({ x: true });
  });

  it('flow from task to task by what tasks make, not by what they take', () => {
    const tasks: { input_types: Flags; output_types: Flags }[] = [
      { input_types: {}, output_types: {} },
      { input_types: { corr: false }, output_types: { corr: true } },
      { input_types: { '3D': true }, output_types: { '3D': false } },
      { input_types: {}, output_types: {} },
    ];
    let current: Flags = {};
    const seen = tasks.map(({ input_types, output_types }) => {
      const effective = effectiveTypeFilters(current, input_types, {});
      current = nextTypeFilters(current, output_types);
      return [effective, current];
    });
    expect(seen).toEqual([
      [{}, {}],
      [{ corr: false }, { corr: true }],
      [
        { corr: true, '3D': true },
        { corr: true, '3D': false },
      ],
      [
        { corr: true, '3D': false },
        { corr: true, '3D': false },
      ],
    ]);
  });

  const flags = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.boolean());

  it('agree with a lookup of each key in the last map that has it', () => {
    fc.assert(
      fc.property(
        flags,
        fc.array(fc.record({ input: flags, own: flags, output: flags })),
        flags,
        (job, tasks, types) => {
          let current = job;
          const outputs: Flags[] = [];
          for (const { input, own, output } of tasks) {
            const layers = [own, input, ...outputs.toReversed(), job];
            const wanted = (key: string) => layers.find((layer) => key in layer)?.[key];
            const passes = ['a', 'b', 'c', 'd'].every((key) => [undefined, types[key] ?? false].includes(wanted(key)));
            expect(passesTypes(types, effectiveTypeFilters(current, input, own))).toBe(passes);
            current = nextTypeFilters(current, output);
            outputs.push(output);
          }
        },
      ),
    );
  });
});

const BIG = '12345678901234567890';

describe('attribute filters', () => {
  it.each([
    ['{"k": 1}', '{"k": [1]}', true],
    ['{"k": 1.0}', '{"k": [1]}', true],
    ['{"k": true}', '{"k": [1]}', true],
    ['{"k": 1}', '{"k": [true]}', true],
    ['{"k": 0.0}', '{"k": [false]}', true],
    ['{"k": -0.0}', '{"k": [0]}', true],
    ['{"k": 1e3}', '{"k": [1000]}', true],
    ['{"k": 0.50}', '{"k": [0.5]}', true],
    ['{"k": "1"}', '{"k": [1]}', false],
    ['{"k": "true"}', '{"k": [true]}', false],
    ['{"k": 2}', '{"k": [true]}', false],
    ['{"k": 2}', '{"k": [1, 2]}', true],
    ['{"k": 2}', '{"k": []}', false],
    ['{}', '{"k": [1]}', false],
    ['{}', '{"constructor": ["x"]}', false],
    ['{"k": 1, "l": "x"}', '{"k": [1], "l": ["y"]}', false],
    [`{"k": ${BIG}}`, `{"k": [${BIG}]}`, true],
    [`{"k": ${BIG}}`, '{"k": [12345678901234567891]}', false],
    ['{"k": 9007199254740993}', '{"k": [9007199254740992]}', false],
    // the float nearest to the first is exactly this integer
    ['{"k": 1.2345678901234567e19}', '{"k": [12345678901234567168]}', true],
    ['{"k": 1e22}', '{"k": [10000000000000000000000]}', true],
  ])('attributes %s, filters %s: %s', (attributes, filters, passes) => {
    const image = parseJson(attributes) as Record<string, Scalar>;
    expect(passesAttributes(image, parseJson(filters) as Record<string, Scalar[]>)).toBe(passes);
  });

  const scalar = fc.oneof(
    fc.constantFrom<Scalar>('0', '1', '', 0, 1, 2, 0.5, true, false),
    fc.constantFrom('1.0', '0.0', '1e0', '-0', '0.50', '2.0').map((source) => parseJson(source) as Scalar),
  );
  const naiveSame = (one: Scalar, other: Scalar) =>
    (typeof one === 'string') === (typeof other === 'string') &&
    (typeof one === 'string' ? one === other : asNumber(one) === asNumber(other));
  const asNumber = (value: Scalar) => Number(typeof value === 'object' ? value.value : value);

  it('agree with a comparison of each value with each', () => {
    const key = fc.constantFrom('a', 'b', 'c');
    fc.assert(
      fc.property(fc.dictionary(key, scalar), fc.dictionary(key, fc.array(scalar)), (attributes, filters) => {
        const passes = Object.entries(filters).every(
          ([name, values]) => name in attributes && values.some((value) => naiveSame(value, attributes[name]!)),
        );
        expect(passesAttributes(attributes, filters)).toBe(passes);
        expect(attributeTest(filters)(attributes)).toBe(passes);
      }),
    );
  });
});
