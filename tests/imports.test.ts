/** The direction of imports is kept by a rule that can fail. */
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ROOT } from './support/processes.ts';

const SERVER = join(ROOT, 'packages/server/src');
const WRONG = [
  ['http-knows-no-domain', 'http/wrong-arrow.ts', '../accounts/index.ts'],
  ['db-knows-no-domain', 'db/wrong-arrow.ts', '../settings/index.ts'],
  ['accounts-has-one-door', 'mail/wrong-arrow.ts', '../accounts/tokens.ts'],
  ['domains-do-not-look-up', 'accounts/wrong-arrow.ts', '../run.ts'],
  ['the-web-client-comes-built', 'web/wrong-arrow.ts', '../../../web/src/lib/json.ts'],
  ['sql-only-in-stores', 'jobs/wrong-arrow.ts', 'kysely'],
] as const;

afterAll(() => {
  for (const [, file] of WRONG) rmSync(join(SERVER, file), { force: true });
});

/** One look at all of them: it takes its time. */
let status: number | null;
let named: string[];
beforeAll(() => {
  for (const [, file, target] of WRONG)
    writeFileSync(join(SERVER, file), `import * as other from '${target}';\nexport default other;\n`);
  const args = ['packages/server/src', '--config', '.dependency-cruiser.cjs', '--output-type', 'err'];
  const done = spawnSync(join(ROOT, 'node_modules/.bin/depcruise'), args, { cwd: ROOT, encoding: 'utf8' });
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
