/**
 * What the worker writes about its units, one line of JSON a record.
 *
 *     {"start": 0, "time": 1.5}
 *     {"end": 0, "time": 2.5, "exit_code": 0, …}
 *
 * The journal only grows. A line without its end, left by a crash, is not a record yet.
 */
import { open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';

import type { EndKind } from '../engine/slurm/states.ts';

interface WorkerRecord {
  worker: number;
  started: string;
  boot: string;
  host: string;
}

export interface UnitEnd {
  end: number;
  /** Seconds since 1970. */
  time: number;
  exit_code: number | null;
  signal: number | null;
  cpu: number;
  memory: number | null;
  out_of_memory: boolean;
  warnings: number;
  log_bytes: number;
  output: string | null;
  output_bytes: number;
  output_too_large?: boolean;
  output_not_text?: boolean;
  problem: string | null;
  stopped: boolean;
  lost: boolean;
  tail: string;
  /** Where it ran, on a cluster. */
  node?: string | null;
  scheduler_job?: number | null;
  memory_limit?: number | null;
  /** How the scheduler's job ended, where that ended the unit. */
  scheduler?: { kind: EndKind | 'gone'; words: string };
}

export type JournalRecord =
  | WorkerRecord
  | { places: number }
  | { stopping: true }
  | { start: number; time: number; node?: string | null; scheduler_job?: number | null }
  | { running: number; pid: number; started: string }
  | UnitEnd
  | { finished: true; stopped: boolean };

const CHUNK = 4 * 2 ** 20;

export interface JournalReader {
  /** The records since the last call; some megabytes at a time, so call again until there are none. */
  read(): Promise<JournalRecord[]>;
}

export function journalReader(path: string): JournalReader {
  let offset = 0;
  let rest = '';
  const decoder = new StringDecoder('utf8');

  async function chunk(): Promise<string> {
    const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (!file) return '';
    try {
      const { size } = await file.stat();
      if (size <= offset) return '';
      const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(CHUNK, size - offset)), { position: offset });
      offset += bytesRead;
      return decoder.write(buffer.subarray(0, bytesRead));
    } finally {
      await file.close();
    }
  }

  return {
    async read() {
      for (;;) {
        const text = await chunk();
        if (text === '') return [];
        const end = text.lastIndexOf('\n');
        if (end < 0) {
          rest += text;
          continue;
        }
        const lines = (rest + text.slice(0, end)).split('\n');
        rest = text.slice(end + 1);
        return lines.flatMap(recordOf);
      }
    },
  };
}

/** A line that a crash cut off and a later worker ended is no record. */
function recordOf(line: string): JournalRecord[] {
  if (line === '') return [];
  try {
    return [JSON.parse(line) as JournalRecord];
  } catch {
    return [];
  }
}
