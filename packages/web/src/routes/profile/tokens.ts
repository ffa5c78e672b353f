/** Personal access tokens in words: what a scope allows, how a token stands, when a new one ends. */
import type { PersonalToken, TokenScope } from '@service/contract';

import { formatWhen } from '#lib/format.ts';

export const SCOPES: { scope: TokenScope; word: string; means: string }[] = [
  { scope: 'read', word: 'Read only', means: 'Reads everything you can read. Changes nothing.' },
  { scope: 'run', word: 'Run jobs', means: 'Also submits and stops jobs.' },
  {
    scope: 'everything',
    word: 'Everything',
    means: 'Everything you can do, except making tokens and changing accounts.',
  },
];

export const scopeWord = (scope: TokenScope) => SCOPES.find((one) => one.scope === scope)!.word;

type Stands = Pick<PersonalToken, 'timestamp_expires' | 'timestamp_revoked'>;

export const isOpen = ({ timestamp_expires, timestamp_revoked }: Stands, now = Date.now()) =>
  timestamp_revoked === null && Date.parse(timestamp_expires) > now;

/** `Jan 31, 23:59`, `Revoked today 14:55`, `Expired Jan 3, 23:59` */
export function endWords(token: Stands, now = Date.now()): string {
  if (token.timestamp_revoked !== null) return `Revoked ${formatWhen(token.timestamp_revoked, now)}`;
  const when = formatWhen(token.timestamp_expires, now);
  return isOpen(token, now) ? when : `Expired ${when}`;
}

const DAYS_OFFERED = 90;

const twoDigits = (number: number) => String(number).padStart(2, '0');

/** A day as date fields have it, in the reader's own zone. */
export function dayAhead(days = DAYS_OFFERED, now = Date.now()): string {
  const day = new Date(now);
  day.setDate(day.getDate() + days);
  return `${day.getFullYear()}-${twoDigits(day.getMonth() + 1)}-${twoDigits(day.getDate())}`;
}

/** The end of a day in the reader's own zone; undefined while the field is not filled in. */
export function endOfDay(day: string): string | undefined {
  const end = new Date(`${day}T23:59:59`);
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString();
}

/** A call of the API that can be pasted into a terminal. The web server passes on what comes with the session cookie. */
export const curlExample = (origin: string, cookieName: string, token = '$TOKEN'): string =>
  `curl --cookie "${cookieName}=${token}" ${origin}/api/v2/project/`;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `in 3 days`, `in 40 minutes`, `now` */
export function untilWords(expires: string, now = Date.now()): string {
  const left = Date.parse(expires) - now;
  const [size, unit] = left >= 2 * DAY ? [DAY, 'days'] : left >= 2 * HOUR ? [HOUR, 'hours'] : [MINUTE, 'minutes'];
  const count = Math.floor(left / size);
  return count < 1 ? 'now' : `in ${count} ${count === 1 ? unit.slice(0, -1) : unit}`;
}
