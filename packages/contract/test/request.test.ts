/** Path, query and body of a request are checked together. */
import { describe, expect, it } from 'vitest';

import { accounts, readRequest } from '../src/index.ts';

describe('a whole request', () => {
  const request = (parts: { params?: unknown; query?: unknown; body?: unknown }) =>
    readRequest(accounts.updateUser, { params: { user_id: '1' }, query: {}, body: {}, ...parts });

  it('is read in all its parts', () => {
    expect(request({ params: { user_id: '7' }, query: { unknown: 'x' }, body: { is_active: 'no' } })).toEqual({
      value: { params: { user_id: 7 }, query: {}, body: { is_active: false } },
    });
  });

  it('says what is wrong in the path first, then the query, then the body', () => {
    const outcome = readRequest(accounts.impersonateByPost, {
      params: {},
      query: { user_id: '' },
      body: { user_id: 'x' },
    });
    expect(outcome).toMatchObject({ entries: [{ loc: ['query', 'user_id'] }, { loc: ['body', 'user_id'] }] });
    expect(request({ params: { user_id: 'x' }, body: { foo: 1 } })).toMatchObject({
      entries: [
        { loc: ['path', 'user_id'], type: 'int_parsing' },
        { loc: ['body', 'foo'], type: 'extra_forbidden' },
      ],
    });
  });

  it.each([undefined, null])('misses a body that is %s', (body) => {
    expect(request({ body })).toMatchObject({ entries: [{ type: 'missing', loc: ['body'] }] });
  });

  it('never echoes what was sent: it may be a password', () => {
    const outcome = readRequest(accounts.registerUser, { params: {}, query: {}, body: { password: 'hunter2' } });
    expect(outcome).toHaveProperty('entries');
    expect(JSON.stringify(outcome)).not.toContain('hunter2');
  });
});
