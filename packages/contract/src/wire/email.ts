/**
 * E-mail addresses: syntax only, no look-up. `Ada <ada@Example.org>` reads as `ada@example.org`.
 */
import punycode from 'punycode/punycode.es6.js';

import { found, reader, type Reading, wrong } from './problem.ts';

const LONGEST_INPUT = 2048;
const LONGEST_ADDRESS = 254;
const LOCAL_PART = /^[\w!#$%&'*+\-/=?^`{|}~.\u{80}-\u{10ffff}]+$/u;
const UNSAFE = /[\p{C}\p{Z}]/u;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** The same for a label in Unicode: letters and digits of any script, hyphens inside. */
const UNICODE_LABEL = /^[\p{L}\p{N}]([\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?$/u;
const SPECIAL_USE = ['arpa', 'invalid', 'local', 'localhost', 'onion', 'test'];
/** Mail servers treat these names without regard to case, so one spelling is stored. */
const ROLES = new Set(
  'abuse ftp hostmaster info marketing news noc postmaster sales security support usenet uucp webmaster www'.split(' '),
);

const notAnAddress = (reason: string) => wrong('value_error', `value is not a valid email address: ${reason}`);

function readLocalPart(input: string): string | undefined {
  const local = input.normalize('NFC');
  const dots = local.startsWith('.') || local.endsWith('.') || local.includes('..');
  if (dots || !LOCAL_PART.test(local) || UNSAFE.test(local)) return undefined;
  return ROLES.has(local.toLowerCase()) ? local.toLowerCase() : local;
}

function readDomain(input: string): string | undefined {
  const ascii = punycode.toASCII(input.normalize('NFKC').toLowerCase());
  const labels = ascii.split('.');
  const last = labels.at(-1) ?? '';
  if (labels.length < 2 || ascii.length > 253 || !labels.every((label) => LABEL.test(label))) return undefined;
  if (labels.some((label) => label.slice(2, 4) === '--' && !label.startsWith('xn--'))) return undefined;
  if (!/[a-z]$/.test(last) && !last.startsWith('xn--')) return undefined;
  if (SPECIAL_USE.includes(last)) return undefined;
  const unicode = unicodeDomain(ascii);
  return unicode?.split('.').every((label) => UNICODE_LABEL.test(label)) ? unicode : undefined;
}

function unicodeDomain(ascii: string): string | undefined {
  try {
    return punycode.toUnicode(ascii);
  } catch {
    return undefined; // not punycode behind the xn--
  }
}

export function readEmail(input: unknown): Reading<string> {
  if (typeof input !== 'string') return wrong('string_type', 'Enter an e-mail address.');
  if (input.length > LONGEST_INPUT) return notAnAddress(`it has more than ${LONGEST_INPUT} characters.`);
  const named = /^[^<>]*<([^<>]+)>$/.exec(input.trim());
  const address = (named?.[1] ?? input).trim();
  const at = address.lastIndexOf('@');
  const local = at > 0 ? readLocalPart(address.slice(0, at)) : undefined;
  if (local === undefined) return notAnAddress('check the part before the @-sign.');
  const domain = readDomain(address.slice(at + 1));
  if (domain === undefined) return notAnAddress('check the part after the @-sign.');
  const email = `${local}@${domain}`;
  return email.length > LONGEST_ADDRESS
    ? notAnAddress(`it has more than ${LONGEST_ADDRESS} characters.`)
    : found(email);
}

export const email = () => reader(readEmail, { type: 'string', format: 'email' });
