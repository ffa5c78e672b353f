import { describe, expect, it } from 'vitest';

import { askedFrom, changedQuery, type Places, queryNow } from '../../src/lib/ui/query.ts';

describe('a changed query', () => {
  it.each([
    ['?a=1&b=2', { b: 3 }, '?a=1&b=3'],
    ['?a=1&b=2', { a: null, c: true }, '?b=2&c=true'],
    ['?a=1', { a: '' }, ''],
    ['', { text: 'a b' }, '?text=a+b'],
  ])('%s with %o is %s', (before, changes, after) => {
    expect(changedQuery(before, changes)).toBe(after);
  });
});

describe('the query that the next change begins from', () => {
  const at = (path: string) => new URL(path, 'http://site.test');
  const places = (shown: string, underWay?: string): Places => ({
    shown: at(shown),
    underWay: underWay === undefined ? undefined : at(underWay),
  });

  it('is that of the page', () => {
    expect(queryNow(places('/tasks?text=a'), undefined)).toBe('?text=a');
  });

  it('is the one that was asked for, before anything has begun', () => {
    const before = places('/tasks?text=a&tag=b');
    const asked = askedFrom(before, '');
    expect(queryNow(before, asked)).toBe('');
  });

  it('is the last of several that were asked for', () => {
    const before = places('/tasks?text=a&tag=b');
    const reset = askedFrom(before, '');
    const typed = askedFrom(before, changedQuery(queryNow(before, reset), { text: 'c' }));
    expect(queryNow(before, typed)).toBe('?text=c');
  });

  it('is that of the navigation, as soon as one has begun', () => {
    const asked = askedFrom(places('/tasks?text=a'), '?text=b');
    expect(queryNow(places('/tasks?text=a', '/tasks?text=b'), asked)).toBe('?text=b');
    // a link to the same page, followed a moment later
    expect(queryNow(places('/tasks?text=a', '/tasks'), asked)).toBe('');
  });

  it('is asked for again while a navigation is under way', () => {
    const during = places('/tasks?text=a', '/tasks?text=b');
    const asked = askedFrom(during, changedQuery(queryNow(during, undefined), { tag: 'c' }));
    expect(queryNow(during, asked)).toBe('?text=b&tag=c');
  });

  it('is that of the page again when all has ended, also where the reader went back meanwhile', () => {
    const asked = askedFrom(places('/tasks?text=a'), '?text=b');
    expect(queryNow(places('/tasks?text=b'), asked)).toBe('?text=b');
    expect(queryNow(places('/tasks?tag=d'), asked)).toBe('?tag=d');
  });

  it('is not that of another page', () => {
    expect(queryNow(places('/tasks?text=a', '/projects?name=b'), undefined)).toBe('?text=a');
  });
});
