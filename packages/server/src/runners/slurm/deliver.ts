/** Puts what a unit left on the cluster where the service keeps the files of a job. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { ToldEnd, UnitEnd } from '../records.ts';
import type { UnitIndex } from './rounds.ts';

export interface Deliverer {
  /** The record without what has become files. */
  unit(end: UnitEnd & Pick<ToldEnd, 'log' | 'log64'>): Promise<UnitEnd>;
  text(name: string, content: string): Promise<void>;
  /** Logs that were too long to come along: fetch these. */
  missing: Set<number>;
}

function bytesOf(log: string | undefined, log64: string | undefined): Buffer | undefined {
  if (log !== undefined) return Buffer.from(log, 'utf8');
  return log64 === undefined ? undefined : Buffer.from(log64, 'base64');
}

export async function createDeliverer(folder: string, units: UnitIndex): Promise<Deliverer> {
  await mkdir(folder, { recursive: true });
  const missing = new Set<number>();
  return {
    missing,
    async unit({ log, log64, ...end }) {
      const stem = join(folder, units.stem(end.end));
      const { args } = JSON.parse(await units.line(end.end)) as { args: string };
      await writeFile(`${stem}-args.json`, args);
      const bytes = bytesOf(log, log64);
      if (bytes) await writeFile(`${stem}-log.txt`, bytes);
      else if (end.log_bytes > 0 || end.lost) missing.add(end.end);
      if (end.output !== null) await writeFile(`${stem}-metadiff.json`, end.output);
      return end;
    },
    text: (name, content) => writeFile(join(folder, name), content),
  };
}
