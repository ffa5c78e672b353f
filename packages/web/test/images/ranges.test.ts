import { describe, expect, it } from 'vitest';

import { parseJson } from '../../src/lib/json.ts';
import { histogramOf, isBinWithin, isRanged, rangeOf, rangeWords, valuesWithin } from '../../src/lib/images/ranges.ts';
import { newestPlate, shownPlate } from '../../src/routes/v2/projects/[project_id]/datasets/[dataset_id]/plate-data.ts';
import { newQuery } from '../../src/lib/images/filters.ts';

const doses = parseJson('[0, 0.10, 1.0, 2, 5, 10, 100]') as unknown[];

describe('numbers by range', () => {
  it('are offered where there are more than a few, and nothing but numbers', () => {
    expect(isRanged(doses)).toBe(true);
    expect(isRanged([1, 2, 3])).toBe(false);
    expect(isRanged([...doses, 'none'])).toBe(false);
    expect(isRanged([])).toBe(false);
  });

  it.each([
    [{ from: 1, to: 10 }, [2, 3, 4, 5]],
    [{ to: 0.5 }, [0, 1]],
    [{ from: 10 }, [5, 6]],
    [{}, [0, 1, 2, 3, 4, 5, 6]],
  ])('%j are the values of the dataset in it, as they were written', (range, expected) => {
    expect(valuesWithin(doses, range)).toEqual(expected.map((at) => doses[at]));
  });

  it.each([
    [{ from: 3, to: 1 }, 'The first number is larger than the second.'],
    [{ from: 20, to: 30 }, 'No image has a value in this range.'],
  ])('%j says what is wrong', (range, text) => {
    expect(valuesWithin(doses, range)).toBe(text);
  });

  it('are no more than an address can hold', () => {
    const many = Array.from({ length: 1200 }, (_, at) => at / 7);
    expect(valuesWithin(many, {})).toBe('These are 1\u202f200 different values. Choose a smaller range.');
    expect(valuesWithin(many, { to: 10 })).toHaveLength(71);
  });

  it('are told as a range while nothing between them is left out', () => {
    const range = rangeOf(doses, doses.slice(1, 4))!;
    expect(range).toEqual({ from: 0.1, to: 2 });
    expect(rangeWords(range)).toBe('0.1 to 2');
    expect(rangeOf(doses, [doses[1], doses[4]])).toBeUndefined();
    expect(rangeOf(doses, [doses[1]])).toBeUndefined();
    expect(rangeOf(doses, [])).toBeUndefined();
  });

  it('have a histogram of images, or of values where images are not counted', () => {
    const values = histogramOf(doses);
    expect([values.from, values.to, values.most, values.bins[0], values.bins[23]]).toEqual([0, 100, 4, 4, 1]);
    const images = histogramOf(doses, [
      { value: 0, count: 30 },
      { value: 24, count: 6 },
    ]);
    expect([images.bins[0], images.bins[23], images.bins.reduce((a, b) => a + b)]).toEqual([30, 6, 36]);
    expect(isBinWithin(images, 0, { from: 0, to: 3 })).toBe(true);
    expect(isBinWithin(images, 12, { from: 0, to: 3 })).toBe(false);
    expect(isBinWithin(images, 0, undefined)).toBe(false);
    expect(histogramOf([5, 5]).bins[0]).toBe(2);
  });
});

describe('the plate that a map begins with', () => {
  const group = (plate: string | undefined, newest_unit_id: number | null) => {
    const values: Record<string, string> = plate === undefined ? {} : { plate };
    return { values, newest_unit_id };
  };

  it('is the one that the task looked at last', () => {
    expect(newestPlate([group('P1', 4), group('P2', 9), group('P3', null), group(undefined, 12)])).toBe('P2');
    expect(newestPlate([group('P1', null)])).toBeUndefined();
    expect(newestPlate([])).toBeUndefined();
  });

  it('is the one that somebody asked for before all others, and the first where nothing is known', () => {
    expect(shownPlate(['P1', 'P2'], newQuery({ attributes: { plate: ['P1'] } }), 'P2')).toBe('P1');
    expect(shownPlate(['P1', 'P2'], newQuery(), 'P2')).toBe('P2');
    expect(shownPlate(['P1', 'P2'], newQuery(), 'gone')).toBe('P1');
    expect(shownPlate(['P1', 'P2'], newQuery(), undefined)).toBe('P1');
    expect(shownPlate([], newQuery(), undefined)).toBeUndefined();
  });
});
