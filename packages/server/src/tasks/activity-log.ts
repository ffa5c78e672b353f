/**
 * A line in the log of an activity, as clients know it: they look for the level.
 *
 *     2026-01-31 12:00:00,123 - collect - INFO - Step package
 */
export type Level = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR';

const stamp = (time: Date) => time.toISOString().replace('T', ' ').replace('Z', '').replace('.', ',');

export const logLine = (time: Date, name: string, level: Level, message: string) =>
  `${stamp(time)} - ${name} - ${level} - ${message}\n`;
