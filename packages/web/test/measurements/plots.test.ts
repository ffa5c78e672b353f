/** What plots are made of: axes, statistics, colours, shapes, counts of dots. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { formatNumber } from '../../src/lib/format.ts';
import { viewAddress } from '../../src/lib/measurements/crops.ts';
import { countDots, paintCounts, spreadFor } from '../../src/lib/measurements/density.ts';
import { pickRows } from '../../src/lib/measurements/picks.ts';
import { place, scaleFor, ticksOf, valueAt } from '../../src/lib/measurements/scale.ts';
import {
  type Point,
  readShapes,
  selectedRows,
  selectRows,
  type Shape,
  simplified,
  withShape,
  writeShape,
} from '../../src/lib/measurements/shapes.ts';
import { violinPath } from '../../src/lib/measurements/spread.ts';
import {
  boxOf,
  countBins,
  densityOf,
  quantile,
  robustScores,
  whiskersOf,
} from '../../src/lib/measurements/statistics.ts';
import { axisWords, featureWords, shareWords } from '../../src/lib/measurements/words.ts';
import { legendBetween } from '../../src/lib/pixels/colour-map.ts';
import { readView } from '../../src/lib/viewer/address.ts';

describe('axes', () => {
  it.each([
    ['linear', 12, 4870, [0, 1000, 2000, 3000, 4000, 5000]],
    ['linear', 0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    ['linear', -3.1, 3.1, [-2, 0, 2]],
    ['linear', 1240, 3890, [1500, 2000, 2500, 3000, 3500]],
    ['log', 2, 90_000, [10, 100, 1000, 10_000, 100_000]],
    ['log', 3, 40, [5, 10, 20]],
    ['log', 110, 130, [110, 115, 120, 125, 130]],
  ] as const)('%s from %d to %d has round ticks', (kind, least, most, ticks) => {
    expect(ticksOf(scaleFor(kind, least, most))).toEqual(ticks);
  });

  it('never has more ticks than there is room for, and all of them lie on the axis', () => {
    const value = fc.double({ min: -1e9, max: 1e9, noNaN: true });
    fc.assert(
      fc.property(value, value, fc.constantFrom('linear' as const, 'log' as const), (one, other, kind) => {
        const [least, most] = [Math.min(one, other), Math.max(one, other)];
        const scale = scaleFor(kind, kind === 'log' ? Math.max(least, 1e-6) : least, most);
        const ticks = ticksOf(scale);
        expect(ticks.length).toBeLessThanOrEqual(7);
        for (const tick of ticks) {
          expect(place(scale, tick)).toBeGreaterThan(-0.01);
          expect(place(scale, tick)).toBeLessThan(1.01);
        }
      }),
    );
  });

  it('gives back the value of a place, in both kinds', () => {
    for (const kind of ['linear', 'log'] as const) {
      const scale = scaleFor(kind, 3, 4000);
      for (const value of [3, 50, 4000]) expect(valueAt(scale, place(scale, value))).toBeCloseTo(value, 6);
    }
  });

  it('has an axis for a single value, for none, and for a logarithm of what is not above zero', () => {
    for (const [least, most] of [
      [5, 5],
      [0, 0],
      [Infinity, -Infinity],
      [-5, -1],
    ] as const) {
      for (const kind of ['linear', 'log'] as const) {
        const { from, to } = scaleFor(kind, least, most);
        expect(Number.isFinite(from) && Number.isFinite(to) && to > from, `${kind} ${least}`).toBe(true);
      }
    }
  });
});

describe('words', () => {
  it.each([
    ['mean_nuclei', 'Mean nuclei'],
    ['volume_um3', 'Volume, µm³'],
    ['x_um', 'X, µm'],
    ['num_pixels', 'Num pixels'],
    ['_', '_'],
  ])('%s is %s', (column, words) => expect(axisWords(column)).toBe(words));

  it('keeps a name that is nothing but a unit', () => expect(featureWords('_um').name).toBe('_um'));

  it.each([
    [1212.5, '1\u202f212.5'],
    [-0.325, '−0.325'],
    [20_000_000, '2·10⁷'],
    [0.00001, '10⁻⁵'],
    [0, '0'],
    [NaN, 'none'],
    [Infinity, '∞'],
  ])('%d is written %s', (value, words) => expect(formatNumber(value)).toBe(words));

  it('has a decimal for small shares only', () => {
    expect([0.045, 0.31, 0].map(shareWords)).toEqual(['4.5 %', '31 %', '0.0 %']);
  });
});

describe('statistics', () => {
  it('finds quartiles between values, and whiskers that end at values', () => {
    const sorted = Float64Array.from([1, 2, 3, 4, 5, 6, 7, 8, 100]);
    expect(quantile(sorted, 0.5)).toBe(5);
    expect(boxOf(sorted)).toEqual({ q1: 3, median: 5, q3: 7, low: 1, high: 8, numBeyond: 1 });
    expect(boxOf(new Float64Array(0))).toBeUndefined();
    expect(boxOf(Float64Array.from([4]))).toEqual({ q1: 4, median: 4, q3: 4, low: 4, high: 4, numBeyond: 0 });
  });

  it('scores an outlier high and the rest low, without being moved by it', () => {
    const scores = robustScores([10, 11, 9, 10, 12, 8, 1000, NaN]);
    expect(Math.max(...scores.slice(0, 6).map(Math.abs))).toBeLessThan(2);
    expect(scores[6]).toBeGreaterThan(100);
    expect(scores[7]).toBeNaN();
  });

  it('scores nothing where all are alike, and something where more than half are', () => {
    expect(robustScores([5, 5, 5])).toEqual([0, 0, 0]);
    expect(robustScores([5, 5, 5, 5, 9])[4]).toBeGreaterThan(1);
  });

  it('counts what lies on an axis, with its end', () => {
    expect(countBins([0, 0.4, 1, 2, 2.1, NaN], { kind: 'linear', from: 0, to: 2 }, 2)).toEqual([2, 2]);
  });
});

describe('violins', () => {
  const scale = { kind: 'linear', from: 0, to: 100 } as const;
  /** Around two values, the second less often. */
  const two = Float64Array.from({ length: 600 }, (_, at) => (at % 3 === 0 ? 70 : 30) + ((at * 7) % 11) - 5).sort();

  it('show both of two hills, and nothing beyond the values', () => {
    const density = densityOf(two, scale, 100);
    expect(Math.max(...density)).toBe(1);
    expect(density.indexOf(1)).toBeGreaterThan(25);
    expect(density.indexOf(1)).toBeLessThan(36);
    expect(density[70]).toBeGreaterThan(2 * density[50]!);
    expect([...density.slice(0, 24), ...density.slice(77)].every((value) => value === 0)).toBe(true);
  });

  it('are a path around their middle line, and none without values', () => {
    expect(violinPath([0, 1, 0.5, 0], 10, 40, 20, 8)).toBe('M25.0 12.0L35.0 16.0L35.0 24.0L25.0 28.0z');
    expect(violinPath(densityOf(new Float64Array(0), scale, 4), 0, 40, 20, 8)).toBe('');
  });

  it('of a single value are a line', () => {
    expect(densityOf(Float64Array.of(50, 50, 50), scale, 10).filter((value) => value > 0)).toEqual([1]);
  });
});

describe('the colours of objects', () => {
  it('end where the box of the plate does, or at its last value', () => {
    const ends = whiskersOf({ min: 0, q1: 10, q3: 20, max: 500 })!;
    expect(ends).toEqual({ least: 0, most: 500, from: 0, to: 35 });
    expect(legendBetween(ends).isCut).toEqual({ below: false, above: true });
    expect(whiskersOf({ min: null, q1: null, q3: null, max: null })).toBeUndefined();
  });
});

describe('shapes', () => {
  const KINDS = { x: 'linear', y: 'linear' } as const;
  const places = (points: Point[], kinds: { x: 'linear' | 'log'; y: 'linear' | 'log' } = KINDS) => ({
    xs: Float64Array.from(points.map(([x]) => x)),
    ys: Float64Array.from(points.map(([, y]) => y)),
    kept: new Uint8Array(points.length).fill(1),
    kinds,
  });
  const ring = (way: Shape['way'], far = 10): Shape => ({
    kind: 'lasso',
    way,
    points: [
      [0, 0],
      [far, 0],
      [far, far],
      [0, far],
    ],
  });

  /** By the angle that a point sees the corners turn through. */
  function isInside(points: readonly Point[], [x, y]: Point): boolean {
    let turn = 0;
    points.forEach(([ax, ay], at) => {
      const [bx, by] = points[(at + 1) % points.length]!;
      turn += Math.atan2((ax - x) * (by - y) - (ay - y) * (bx - x), (ax - x) * (bx - x) + (ay - y) * (by - y));
    });
    return Math.abs(turn) > Math.PI;
  }

  it('select what is inside a lasso of any form', () => {
    const corner = fc.tuple(fc.double({ min: -1, max: 1, noNaN: true }), fc.double({ min: -1, max: 1, noNaN: true }));
    fc.assert(
      fc.property(
        fc.array(corner, { minLength: 3, maxLength: 12 }),
        fc.array(corner, { maxLength: 50 }),
        (own, dots) => {
          // around the middle, so that the lasso does not cross itself
          const points = own
            .map(([x, y]): Point => [x, y])
            .filter(([x, y]) => Math.hypot(x, y) > 0.01)
            .sort(([ax, ay], [bx, by]) => Math.atan2(ay, ax) - Math.atan2(by, bx));
          if (points.length < 3) return;
          const { flags } = selectRows(places(dots), [{ kind: 'lasso', way: '', points }]);
          dots.forEach((dot, at) => {
            const turns = points.map(([ax, ay], index) => {
              const [bx, by] = points[(index + 1) % points.length]!;
              return Math.abs((bx - ax) * (dot[1] - ay) - (by - ay) * (dot[0] - ax));
            });
            // on an edge either is right
            if (Math.min(...turns) > 1e-6) expect(flags[at] === 1).toBe(isInside(points, dot));
          });
        },
      ),
    );
  });

  it('add to each other and take from each other, and only rows that are kept', () => {
    const dots = places([
      [5, 5],
      [15, 5],
      [1, 1],
      [NaN, 5],
    ]);
    const box: Shape = {
      kind: 'box',
      way: '+',
      points: [
        [20, 9],
        [12, 1],
      ],
    };
    expect([...selectRows(dots, [ring(''), box]).flags]).toEqual([1, 1, 1, 0]);
    expect([...selectRows(dots, [ring(''), box, ring('-', 2)]).flags]).toEqual([1, 1, 0, 0]);
    dots.kept[0] = 0;
    const selected = selectRows(dots, [ring(''), box]);
    expect([selected.count, ...selectedRows(selected)]).toEqual([2, 1, 2]);
  });

  it('are straight on the screen where an axis is logarithmic', () => {
    // on paper with a logarithm, the line from (1, 0) to (100, 2) goes through (10, 1)
    const triangle: Shape = {
      kind: 'lasso',
      way: '',
      points: [
        [1, 0],
        [100, 2],
        [100, 0],
      ],
    };
    const dots = places(
      [
        [11, 1],
        [9, 1],
      ],
      { x: 'log', y: 'linear' },
    );
    expect([...selectRows(dots, [triangle]).flags]).toEqual([1, 0]);
  });

  it('come back from an address as they were, and what is damaged there is left out', () => {
    const shapes = withShape([ring('')], {
      ...ring('+', 3),
      points: [
        [1e-7, -2.5],
        [3e12, 4],
        [0, 0],
      ],
    });
    expect(readShapes(shapes.map(writeShape))).toEqual(shapes);
    const wrong = [
      'lasso,1,2',
      'box,1,2,3',
      'star,1,2,3,4',
      'box,a,2,3,4',
      'box,1,2,3,',
      '',
      'lasso,Infinity,1,1,1,2,2',
    ];
    expect(readShapes(wrong)).toEqual([]);
    expect(readShapes([`lasso,${'1,'.repeat(4000)}1`])).toEqual([]);
  });

  it('begin anew without a key, and a first one that takes away selects nothing', () => {
    expect(withShape([ring('')], ring('', 3))).toEqual([ring('', 3)]);
    expect(withShape([], ring('+'))).toEqual([ring('')]);
    expect(selectRows(places([[1, 1]]), withShape([], ring('-'))).count).toBe(0);
  });

  it('are simplified no farther than allowed', () => {
    const line = Array.from({ length: 300 }, (_, at): Point => [at, Math.sin(at / 20) * 40]);
    const few = simplified(line, 0.7);
    expect(few.length).toBeLessThan(60);
    expect([few[0], few.at(-1)]).toEqual([line[0], line.at(-1)]);
  });
});

describe('objects to show', () => {
  const values = Float32Array.from([5, 1, 9, NaN, 7, 3]);
  const rows = Uint32Array.from([0, 1, 2, 3, 4, 5]);

  it('are the ends or the middle of a feature, without those that have no value', () => {
    expect(pickRows(rows, values, 'highest', 2)).toEqual([2, 4]);
    expect(pickRows(rows, values, 'lowest', 2)).toEqual([1, 5]);
    expect(pickRows(rows, values, 'typical', 1)).toEqual([0]);
    expect(pickRows(rows, values, 'typical', 99)).toHaveLength(5);
  });

  it('by chance are different ones, the same every time, and others when asked for', () => {
    const many = Uint32Array.from({ length: 1000 }, (_, at) => at);
    const some = pickRows(many, values, 'chance', 36, 1);
    expect(new Set(some).size).toBe(36);
    expect(pickRows(many, values, 'chance', 36, 1)).toEqual(some);
    expect(pickRows(many, values, 'chance', 36, 2)).not.toEqual(some);
    expect(pickRows(rows, values, 'chance', 36, 1).sort()).toEqual([...rows]);
    expect([...many.subarray(0, 3)]).toEqual([0, 1, 2]);
  });

  it('open in the viewer with the object in the middle and all of its image marked', () => {
    const place = { left: 10, top: 20, width: 8, height: 4 };
    const address = viewAddress(
      { project_id: 1, dataset_id: 2 },
      { zarr_url: '/a b/0', labels: 'nuclei', object: 3 },
      { region: { left: 0, top: 0, width: 48, height: 48 }, own: place },
      [place],
    );
    const view = readView(new URL(address, 'http://own').searchParams);
    expect(view).toMatchObject({ image: '/a b/0', camera: { x: 14, y: 22, zoom: 8 }, marks: [place] });
    expect(view.labels).toMatchObject({ name: 'nuclei', shown: true, look: 'outline' });
  });
});

describe('dots', () => {
  const scales = { x: { kind: 'linear', from: 0, to: 4 }, y: { kind: 'linear', from: 0, to: 2 } } as const;
  const dots = {
    xs: Float32Array.from([0.5, 0.5, 3.5, NaN, 9, 1.5]),
    ys: Float32Array.from([0.5, 0.5, 1.5, 1, 1, 1.5]),
    kept: Uint8Array.from([1, 1, 1, 1, 1, 0]),
    selected: Uint8Array.from([1, 0, 0, 0, 0, 0]),
  };

  it('are counted at their pixel, up is up, and what has no place is left out', () => {
    const { all, selected } = countDots(dots, scales, { width: 4, height: 2 }, spreadFor(1e6, 1));
    expect([...all]).toEqual([0, 0, 0, 1, 2, 0, 0, 0]);
    expect([...selected]).toEqual([0, 0, 0, 0, 1, 0, 0, 0]);
  });

  it('are larger where there are few', () => {
    expect([100, 10_000, 100_000, 1_000_000].map((count) => spreadFor(count, 1).length)).toEqual([21, 5, 5, 1]);
  });

  it('are painted darker where there are more, and selected ones in their own colour', () => {
    const counts = countDots(dots, scales, { width: 4, height: 2 }, spreadFor(1e6, 1));
    const bytes = paintCounts(counts, {
      few: [200, 200, 200],
      many: [0, 0, 0],
      fewSelected: [0, 100, 100],
      manySelected: [0, 255, 255],
    });
    expect(bytes[4 * 0 + 3]).toBe(0);
    expect(bytes[4 * 3]).toBeLessThan(200);
    expect(bytes[4 * 4 + 1]).toBeGreaterThan(100);
    expect(bytes[4 * 4]).toBe(0);
  });
});
