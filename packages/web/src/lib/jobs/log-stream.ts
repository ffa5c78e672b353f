/** A log that comes in pieces. */
import type { LogNews } from '../live/watch.ts';

export interface StreamedLog {
  text: string;
  bytes: number;
}

const length = (text: string) => new TextEncoder().encode(text).length;

export const streamedLog = (text: string): StreamedLog => ({ text, bytes: length(text) });

/** The log with the news at its end; undefined when something between is missing. */
export function withNews(log: StreamedLog, { offset, text }: LogNews): StreamedLog | undefined {
  if (offset === 0) return streamedLog(text);
  if (offset > log.bytes) return undefined;
  if (offset === log.bytes) return { text: log.text + text, bytes: log.bytes + length(text) };
  // a stream that came back may repeat what is known
  return offset + length(text) <= log.bytes ? log : undefined;
}
