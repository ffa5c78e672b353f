/** Which e-mail addresses are taken, and in which spelling they are kept. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { readEmail } from '../src/index.ts';
import { email } from '../src/wire/email.ts';
import { problemsOf } from './support/reading.ts';

const kept = (input: unknown) => {
  const reading = readEmail(input);
  return 'value' in reading ? reading.value : reading.problem;
};

const refuses = (input: unknown) => {
  expect(problemsOf(z.object({ email: email() }), { email: input })).toEqual([
    { loc: ['body', 'email'], type: 'value_error' },
  ]);
};

describe('the input', () => {
  it.each([
    ['  ada@example.org\n', 'ada@example.org'],
    ['Ada <ada@example.org>', 'ada@example.org'],
    ['  Ada Lovelace   <ada@example.org>  ', 'ada@example.org'],
    ['Ada <Ada@EXAMPLE.org>', 'Ada@example.org'],
  ])('%j is reduced to the address %s', (input, address) => {
    expect(kept(input)).toBe(address);
  });

  it('may have 2048 characters, and not one more', () => {
    const padded = (length: number) => 'ada@example.org'.padStart(length);
    expect(kept(padded(2048))).toBe('ada@example.org');
    refuses(padded(2049));
  });

  it.each([
    '',
    ' ',
    'ada',
    'ada@',
    '@example.org',
    '@',
    'ada@example.org@example.org',
    'ada@example.org, eve@example.org',
    'Ada <ada@example.org',
    'Ada ada@example.org',
    'Ada <ada>',
    'Ada <>',
    '<ada@example.org> Ada',
  ])('is not an address: %j', refuses);

  it.each([[1], [null], [true], [['ada@example.org']], [{}]])('is a text, not %j', (input) => {
    expect(problemsOf(z.object({ email: email() }), { email: input })).toEqual([
      { loc: ['body', 'email'], type: 'string_type' },
    ]);
  });

  it('is missing when the key is absent', () => {
    expect(problemsOf(z.object({ email: email() }), {})).toEqual([{ loc: ['body', 'email'], type: 'missing' }]);
  });
});

describe('the domain', () => {
  const LONGEST_LABEL = 'x'.repeat(63);

  it.each([
    ['a@example.org', 'a@example.org'],
    ['a@EXAMPLE.Org', 'a@example.org'],
    ['a@asd.asd', 'a@asd.asd'],
    ['a@b.c', 'a@b.c'],
    ['a@my-lab.example.org', 'a@my-lab.example.org'],
    ['a@1.2.org', 'a@1.2.org'],
    ['a@b.1c', 'a@b.1c'],
    [`a@${LONGEST_LABEL}.org`, `a@${LONGEST_LABEL}.org`],
    ['a@testing.org', 'a@testing.org'],
    ['a@test.org', 'a@test.org'],
    ['a@b.contest', 'a@b.contest'],
    ['a@b.mylocal', 'a@b.mylocal'],
    ['a@bücher.org', 'a@bücher.org'],
    ['a@BÜCHER.org', 'a@bücher.org'],
    ['a@bu\u0308cher.org', 'a@bücher.org'],
    ['a@xn--bcher-kva.org', 'a@bücher.org'],
    ['a@XN--BCHER-KVA.org', 'a@bücher.org'],
    ['a@пример.рф', 'a@пример.рф'],
    ['a@b.xn--p1ai', 'a@b.рф'],
    ['a@例え.jp', 'a@例え.jp'],
  ])('of %s is shown as in %s', (input, address) => {
    expect(kept(input)).toBe(address);
  });

  it.each([
    ['has no dot', 'a@localhost'],
    ['has no dot', 'a@example'],
    ['ends in a digit', 'a@example.c1'],
    ['ends in a digit', 'a@example.123'],
    ['ends in a dot', 'a@example.org.'],
    ['starts with a dot', 'a@.example.org'],
    ['has two dots in a row', 'a@example..org'],
    ['has an underscore', 'a@my_lab.org'],
    ['has a space', 'a@my lab.org'],
    ['has another sign', 'a@my+lab.org'],
    ['has a hyphen first', 'a@-lab.org'],
    ['has a hyphen last', 'a@lab-.org'],
    ['has a hyphen last in its last label', 'a@lab.org-'],
    ['has a label of 64 characters', `a@${'x'.repeat(64)}.org`],
    ['is an IPv4 address', 'a@127.0.0.1'],
    ['is an IPv4 literal', 'a@[127.0.0.1]'],
    ['is an IPv6 literal', 'a@[IPv6:::1]'],
    ['has a port', 'a@example.org:25'],
    ['has an international label with an underscore', 'a@bü_cher.org'],
    ['has an international label with a hyphen first', 'a@-bücher.org'],
    ['has an international label with a hyphen last', 'a@bücher-.org'],
    ['has an international label of more than 63 characters', `a@${'ü'.repeat(64)}.org`],
    ['has a picture', 'a@😀.org'],
    ['has a picture in its coded form', 'a@xn--e28h.org'],
    ['has a currency sign', 'a@b€.org'],
    ['has an invisible character', 'a@b\u200bc.org'],
    ['has half of a surrogate pair', 'a@b\ud800.org'],
    ['has a coded label that decodes to nothing', 'a@xn--zzzzzzzz.org'],
  ])('is refused when it %s: %s', (_, input) => {
    refuses(input);
  });

  it.each(['arpa', 'invalid', 'local', 'localhost', 'onion', 'test'])('is refused when it ends in %s', (name) => {
    refuses(`a@example.${name}`);
    refuses(`a@deep.example.${name.toUpperCase()}`);
  });
});

describe('the local part', () => {
  it.each([
    ['Ada.Lovelace@example.org', 'Ada.Lovelace@example.org'],
    ['ADA+Tag@example.org', 'ADA+Tag@example.org'],
    ["!#$%&'*+-/=?^_`{|}~@example.org", "!#$%&'*+-/=?^_`{|}~@example.org"],
    ['jürgen@example.org', 'jürgen@example.org'],
    ['ju\u0308rgen@example.org', 'j\u00fcrgen@example.org'],
    ['Юлия@example.org', 'Юлия@example.org'],
    [`${'a'.repeat(65)}@example.org`, `${'a'.repeat(65)}@example.org`],
    ['1@example.org', '1@example.org'],
  ])('of %s is kept as in %s', (input, address) => {
    expect(kept(input)).toBe(address);
  });

  it.each([
    ...['abuse', 'ftp', 'hostmaster', 'info', 'marketing', 'news', 'noc', 'postmaster'],
    ...['sales', 'security', 'support', 'usenet', 'uucp', 'webmaster', 'www'],
  ])('is lower-cased when it is the role %s', (role) => {
    expect(kept(`${role.toUpperCase()}@example.org`)).toBe(`${role}@example.org`);
    expect(kept(`${role[0]!.toUpperCase()}${role.slice(1)}@example.org`)).toBe(`${role}@example.org`);
  });

  it.each(['Admin', 'Root', 'Info2', 'Info.Desk', 'Infos', 'NoReply'])(
    'keeps its case as %s, no role name',
    (local) => {
      expect(kept(`${local}@example.org`)).toBe(`${local}@example.org`);
    },
  );

  it.each([
    ['starts with a dot', '.ada@example.org'],
    ['ends with a dot', 'ada.@example.org'],
    ['has two dots in a row', 'ada..l@example.org'],
    ['is quoted', '"ada"@example.org'],
    ['is quoted with a space', '"ada l"@example.org'],
    ['has a space', 'ada l@example.org'],
    ['has a comma', 'ada,l@example.org'],
    ['has brackets', 'ada(l)@example.org'],
    ['has a colon', 'ada:l@example.org'],
    ['has a backslash', 'ada\\l@example.org'],
    ['has U+0000', 'ada\u0000@example.org'],
    ['has half of a surrogate pair', 'ada\ud800@example.org'],
    ['has an invisible character', 'ada\u200b@example.org'],
  ])('is refused when it %s', (_, input) => {
    refuses(input);
  });
});
