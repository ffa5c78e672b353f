/** Programs in the place of those of Slurm, and a client of them. */
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type Commands, localHost } from '../../src/hosts/index.ts';
import type { SlurmClient } from '../../src/slurm/client.ts';
import { shellReader } from '../../src/slurm/file-reader.ts';
import { createSharedQueue, createSlurmQueue } from '../../src/slurm/queue.ts';
import { temporaryFolder } from '../support/file-end.ts';

export const newFolder = (): string => temporaryFolder('slurm');

/** `programs` are shell texts by name; `$FOLDER` is theirs. Words of their calls are kept. */
export function standIn(programs: Record<string, string>) {
  const folder = newFolder();
  const log = join(folder, 'asked');
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\nFOLDER=${folder}\necho "${name} $*" >> ${log}\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const commands: Commands = {
    run: ([program, ...words], options) =>
      localHost.run([program in programs ? join(folder, program) : program, ...words], options),
  };
  const queue = createSlurmQueue({ shared: createSharedQueue(commands), username: 'alice' });
  const client: SlurmClient = {
    commands,
    queue,
    files: shellReader(commands),
    isFar: true,
    sharedPath: (_, there) => there,
    share: () => Promise.resolve(),
  };
  return {
    client,
    folder,
    add: (name: string, text: string) => appendFileSync(join(folder, name), text),
    /** The calls of one program. */
    asked: (name: string) =>
      (existsSync(log) ? readFileSync(log, 'utf8') : '').split('\n').filter((line) => line.startsWith(`${name} `)),
  };
}
