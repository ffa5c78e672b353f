/** The direction of imports is kept by a rule that can fail. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { remove, ROOT, temporaryFolder } from './support/processes.ts';

const WRONG = [
  ['http-knows-no-domain', 'http/wrong-arrow.ts', '../accounts/index.ts'],
  ['db-knows-no-domain', 'db/wrong-arrow.ts', '../settings/index.ts'],
  ['accounts-has-one-door', 'mail/wrong-arrow.ts', '../accounts/tokens.ts'],
  ['domains-do-not-look-up', 'accounts/wrong-arrow.ts', '../run.ts'],
  ['the-web-client-comes-built', 'web/wrong-arrow.ts', '../../../web/src/lib/json.ts'],
  ['sql-only-in-stores', 'jobs/wrong-arrow.ts', 'kysely'],
  ['the-slurm-client-knows-hosts-and-rules', 'slurm/wrong-arrow.ts', '../runners/batch.ts'],
  ['slurm-has-one-door', 'runners/wrong-arrow.ts', '../slurm/queue.ts'],
  ['one-client-of-slurm', 'tasks/wrong-arrow.ts', '../engine/slurm/queue.ts'],
] as const;

const contract = JSON.parse(readFileSync(join(ROOT, 'packages/contract/package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};
const copy = temporaryFolder('imports');
afterAll(() => remove(copy));

/** The tree without what is installed, which is linked: a packed one would do, and nobody else sees the wrong arrows. */
function copyTree(): void {
  for (const name of ['.dependency-cruiser.cjs', 'package.json', 'tsconfig.json', 'tsconfig.base.json'])
    copyFileSync(join(ROOT, name), join(copy, name));
  for (const name of ['contract', 'server', 'web']) {
    const [from, to] = [join(ROOT, 'packages', name), join(copy, 'packages', name)];
    mkdirSync(to, { recursive: true });
    copyFileSync(join(from, 'package.json'), join(to, 'package.json'));
    cpSync(join(from, 'src'), join(to, 'src'), { recursive: true });
  }
  mkdirSync(join(copy, 'node_modules/@service'), { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    const [from, to] = [join(ROOT, 'node_modules', name), join(copy, 'node_modules', name)];
    // a rule names these by where they lie, and a link leads elsewhere
    if (name in contract.dependencies) cpSync(from, to, { recursive: true });
    else if (name !== '@service') symlinkSync(from, to);
  }
  symlinkSync('../../packages/contract', join(copy, 'node_modules/@service/contract'));
}

/** One look at all of them: it takes its time. */
let status: number | null;
let named: string[];
beforeAll(() => {
  copyTree();
  for (const [, file, target] of WRONG)
    writeFileSync(
      join(copy, 'packages/server/src', file),
      `import * as other from '${target}';\nexport default other;\n`,
    );
  const args = ['packages/server/src', '--config', '.dependency-cruiser.cjs', '--output-type', 'err'];
  const done = spawnSync(join(ROOT, 'node_modules/.bin/depcruise'), args, { cwd: copy, encoding: 'utf8' });
  const plain = stripVTControlCharacters(done.stdout);
  ({ status } = done);
  named = [...plain.matchAll(/^ *error ([\w-]+: \S+)/gm)].map(([, words]) => words!);
});

describe('an import in the wrong direction', () => {
  it.each(WRONG)('is named: %s', (rule, file) => expect(named).toContain(`${rule}: packages/server/src/${file}`));

  it('fails the check', () => expect(status).toBeGreaterThan(0));

  it('is all that is named', () =>
    expect(named.filter((words) => !WRONG.some(([, file]) => words.endsWith(file)))).toEqual([]));
});
