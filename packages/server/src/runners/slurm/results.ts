/** Puts what units left on the cluster where the service keeps the files of a job. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { fetchFiles, SilentFile, type SlurmClient } from '../../slurm/index.ts';
import type { ToldEnd, UnitEnd } from '../records.ts';
import type { UnitIndex } from './rounds.ts';

export interface Results {
  /** Gives the record without what has become files. */
  keepUnit(end: UnitEnd & Pick<ToldEnd, 'log' | 'log64'>): Promise<UnitEnd>;
  keepText(name: string, content: string): Promise<void>;
  /**
   * Logs that were too long to come with the journals, and those of units that left no outcome. `there` is the folder of the
   * task on the cluster, `readable` one of this machine that the person can read.
   */
  fetchLogs(files: SlurmClient['files'], folders: { there: string; readable: string }): Promise<void>;
}

function bytesOf(log: string | undefined, log64: string | undefined): Buffer | undefined {
  if (log !== undefined) return Buffer.from(log, 'utf8');
  return log64 === undefined ? undefined : Buffer.from(log64, 'base64');
}

export async function openResults(folder: string, units: UnitIndex, say?: (line: string) => void): Promise<Results> {
  await mkdir(folder, { recursive: true });
  const withoutLog = new Set<number>();
  return {
    async keepUnit({ log, log64, ...end }) {
      const stem = join(folder, units.stem(end.end));
      const { args } = JSON.parse(await units.line(end.end)) as { args: string };
      await writeFile(`${stem}-args.json`, args);
      const bytes = bytesOf(log, log64);
      if (bytes) await writeFile(`${stem}-log.txt`, bytes);
      else if (end.log_bytes > 0 || end.lost) withoutLog.add(end.end);
      if (end.output !== null) await writeFile(`${stem}-metadiff.json`, end.output);
      return end;
    },
    keepText: (name, content) => writeFile(join(folder, name), content),
    async fetchLogs(files, { there, readable }) {
      if (withoutLog.size === 0) return;
      const logs = [...withoutLog].map((number) => `${units.stem(number)}-log.txt`);
      const wanted = logs.map((name) => ({ from: `${there}/${name}`, to: join(folder, name) }));
      await fetchFiles(files, readable, wanted).catch((error: unknown) => {
        if (!(error instanceof SilentFile)) throw error;
        say?.(`Long logs are left on the cluster: ${error.message}`);
      });
      withoutLog.clear();
    },
  };
}
