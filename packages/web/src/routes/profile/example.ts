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
