/** What a log entry is, and how it is written: `2026-01-31 12:00:00,123 - access - INFO - GET /api/alive/ 200`. */

export const LEVELS = { debug: 10, info: 20, warning: 30, error: 40, critical: 50 } as const;
export type LevelName = keyof typeof LEVELS;

export interface LogRecord {
  time: Date;
  level: LevelName;
  name: string;
  message: string;
  error?: Error | undefined;
}

export type Format = (record: LogRecord) => string;

const LINE = '%(asctime)s - %(name)s - %(levelname)s - %(message)s';
const two = (value: number) => String(value).padStart(2, '0');

/** The usual codes of strftime, in local time. */
function formatTime(time: Date, pattern: string): string {
  const parts: Record<string, string> = {
    Y: String(time.getFullYear()),
    m: two(time.getMonth() + 1),
    d: two(time.getDate()),
    H: two(time.getHours()),
    M: two(time.getMinutes()),
    S: two(time.getSeconds()),
    f: String(time.getMilliseconds() * 1000).padStart(6, '0'),
    '%': '%',
  };
  return pattern.replace(/%([YmdHMSf%])/g, (_, code: string) => parts[code]!);
}

const defaultTime = (time: Date) =>
  `${formatTime(time, '%Y-%m-%d %H:%M:%S')},${String(time.getMilliseconds()).padStart(3, '0')}`;

/** What others wrote, an address or the words of a program, makes no line of its own, and tells a terminal nothing. */
const onItsLine = (message: string) =>
  message
    .replace(/[^\P{Cc}\n\t]/gu, (sign) => `\\x${sign.codePointAt(0)!.toString(16).padStart(2, '0')}`)
    .replaceAll('\n', '\n  ');

/** A line from a pattern with `%(name)s` fields. */
export function lineFormat(pattern = LINE, timePattern?: string): Format {
  return (record) => {
    const fields: Record<string, string> = {
      asctime: timePattern === undefined ? defaultTime(record.time) : formatTime(record.time, timePattern),
      name: record.name,
      levelname: record.level.toUpperCase(),
      levelno: String(LEVELS[record.level]),
      message: onItsLine(record.message),
      process: String(process.pid),
    };
    const line = pattern.replace(/%\((\w+)\)-?\d*[sd]/g, (_, field: string) => fields[field] ?? '');
    return record.error?.stack === undefined ? line : `${line}\n${record.error.stack.replace(/\n(?=\S)/g, '\n  ')}`;
  };
}

/** One JSON object a line, for log collectors. */
export const jsonFormat: Format = (record) =>
  JSON.stringify({
    time: record.time.toISOString(),
    level: record.level,
    logger: record.name,
    message: record.message,
    ...(record.error ? { error: record.error.stack } : {}),
  });
