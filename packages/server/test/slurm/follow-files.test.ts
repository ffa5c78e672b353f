/** Files of a job, read as they grow. */
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { HostAway, localHost } from '../../src/hosts/index.ts';
import { catReader, shellReader } from '../../src/slurm/file-reader.ts';
import { followFiles } from '../../src/slurm/follow-files.ts';
import { newFolder } from './support.ts';

function growing(folder: string, name: string, most = 1000) {
  const heard = { text: '' };
  const onBytes = (bytes: Buffer) => void (heard.text += bytes.toString('latin1'));
  return { path: join(folder, name), most, onBytes, heard };
}

it.each(Object.entries({ cat: catReader, shell: shellReader }))(
  'with %s, each look brings what is new, up to the limit of a file',
  async (_, readerOf) => {
    const folder = newFolder();
    const [out, err] = [growing(folder, 'out'), growing(folder, 'err', 10)];
    const readOn = followFiles(readerOf(localHost), [out, err]);
    await readOn();
    expect([out.heard.text, err.heard.text]).toEqual(['', '']);
    appendFileSync(out.path, 'one ');
    appendFileSync(err.path, '0123456');
    await readOn();
    appendFileSync(out.path, 'two');
    appendFileSync(err.path, '789and more');
    await readOn();
    await readOn();
    expect([out.heard.text, err.heard.text]).toEqual(['one two', '0123456789']);
  },
);

it('a connection that breaks loses nothing and brings nothing twice', async () => {
  const folder = newFolder();
  const out = growing(folder, 'out', 2 ** 22);
  appendFileSync(out.path, 'x'.repeat(2 ** 20));
  let breaks = true;
  const readOn = followFiles(
    shellReader({
      run: (command, options) =>
        localHost.run(command, {
          ...options,
          async onBytes(chunk) {
            await options!.onBytes!(chunk);
            if (breaks && out.heard.text !== '') throw new HostAway('broke');
          },
        }),
    }),
    [out],
  );
  await expect(readOn()).rejects.toBeInstanceOf(HostAway);
  const before = out.heard.text.length;
  breaks = false;
  await readOn();
  expect([before > 0, before < 2 ** 20, out.heard.text.length]).toEqual([true, true, 2 ** 20]);
});

it('a pipe in the place of a file is not waited for', async () => {
  const folder = newFolder();
  const out = growing(folder, 'out');
  execFileSync('mkfifo', [out.path]);
  await followFiles(shellReader(localHost), [out])();
  expect(out.heard.text).toBe('');
});
