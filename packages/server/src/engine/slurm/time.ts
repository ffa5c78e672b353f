/**
 * Times as Slurm writes them: "minutes", "minutes:seconds", "hours:minutes:seconds", "days-hours",
 * "days-hours:minutes", "days-hours:minutes:seconds".
 *
 *     readTime('1-2:03')  // 93780, in seconds
 *     writeTime(93_780)   // '1-02:03:00'
 */
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const WITHOUT_LIMIT = /^(unlimited|infinite|-1)$/i;
const WITH_DAYS = /^(\d+)-(?:(\d+)(?::(\d+)(?::(\d+))?)?)?$/;
const WITHOUT_DAYS = /^(\d+)(?::(\d+)(?::(\d+))?)?$/;

const number = (digits: string | undefined) => Number(digits ?? 0);

function seconds(text: string): number | undefined {
  const [, days, hours, minutes, rest] = WITH_DAYS.exec(text) ?? [];
  if (days !== undefined) return number(days) * DAY + number(hours) * HOUR + number(minutes) * MINUTE + number(rest);
  const [, first, second, third] = WITHOUT_DAYS.exec(text) ?? [];
  if (first === undefined) return undefined;
  if (third !== undefined) return number(first) * HOUR + number(second) * MINUTE + number(third);
  return number(first) * MINUTE + number(second);
}

/** In seconds; Infinity for no limit, which a zero means too. Undefined for what Slurm refuses. */
export function readTime(text: string): number | undefined {
  if (WITHOUT_LIMIT.test(text)) return Infinity;
  const time = seconds(text);
  return time === 0 ? Infinity : time;
}

const two = (value: number) => String(value).padStart(2, '0');

export function writeTime(time: number): string {
  if (time === Infinity) return 'UNLIMITED';
  const days = Math.floor(time / DAY);
  const clock = [Math.floor((time % DAY) / HOUR), Math.floor((time % HOUR) / MINUTE), Math.floor(time % MINUTE)];
  return `${days > 0 ? `${days}-` : ''}${clock.map(two).join(':')}`;
}

/** For sentences about what is possible. */
export const TIME_FORMS = '"90" (minutes), "2:30:00" (hours, minutes, seconds) or "1-12" (days, hours)';
