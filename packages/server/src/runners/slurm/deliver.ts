/** Puts what a unit left on the cluster where the service keeps the files of a job. */
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { UnitEnd } from '../journal.ts';
import type { UnitIndex } from './rounds.ts';

interface Carried {
  log?: string;
  log64?: string;
}

const contentOf = ({ log, log64 }: Carried): Buffer | undefined => {
  if (log !== undefined) return Buffer.from(log, 'utf8');
  return log64 === undefined ? undefined : Buffer.from(log64, 'base64');
};

/** After an interruption everything is read again; what is there need not be written again. */
async function write(path: string, content: Buffer): Promise<void> {
  const known = await stat(path).catch(() => undefined);
  if (known?.size === content.length) return;
  await writeFile(path, content);
}

export interface Deliverer {
  /** The record without what has become files. */
  unit(end: UnitEnd & Carried): Promise<UnitEnd>;
  text(name: string, content: string): Promise<void>;
  /** Logs that were too long to come along: fetch these. */
  missing: Set<number>;
}

export async function createDeliverer(folder: string, units: UnitIndex): Promise<Deliverer> {
  await mkdir(folder, { recursive: true });
  const missing = new Set<number>();
  return {
    missing,
    async unit({ log, log64, ...end }) {
      const stem = join(folder, units.stem(end.end));
      const content = contentOf({ ...(log === undefined ? {} : { log }), ...(log64 === undefined ? {} : { log64 }) });
      const { args } = JSON.parse(await units.line(end.end)) as { args: string };
      await write(`${stem}-args.json`, Buffer.from(args, 'utf8'));
      if (content) await write(`${stem}-log.txt`, content);
      else if (end.log_bytes > 0 || end.lost) missing.add(end.end);
      if (end.output !== null) await write(`${stem}-metadiff.json`, Buffer.from(end.output, 'utf8'));
      return end;
    },
    text: (name, content) => write(join(folder, name), Buffer.from(content, 'utf8')),
  };
}
