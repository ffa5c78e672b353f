/** The direction of imports is kept by a rule that can fail. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from 'vitest';

import { ROOT } from './support/processes.ts';

const SERVER = join(ROOT, 'packages/server/src');
const made: string[] = [];
afterEach(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
});

describe('an import in the wrong direction', () => {
  it.each([
    ['http-knows-no-domain', 'http/wrong-arrow.ts', '../accounts/index.ts'],
    ['db-knows-no-domain', 'db/wrong-arrow.ts', '../settings/index.ts'],
    ['accounts-has-one-door', 'mail/wrong-arrow.ts', '../accounts/tokens.ts'],
    ['domains-do-not-look-up', 'accounts/wrong-arrow.ts', '../run.ts'],
    ['the-web-client-comes-built', 'web/wrong-arrow.ts', '../../../web/src/lib/json.ts'],
    ['sql-only-in-stores', 'accounts/wrong-arrow.ts', 'kysely'],
  ])('is named: %s', (rule, file, target) => {
    const path = join(SERVER, file);
    made.push(path);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, `import * as other from '${target}';\nexport default other;\n`);
    const args = ['packages/server/src', '--config', '.dependency-cruiser.cjs'];
    const done = spawnSync(join(ROOT, 'node_modules/.bin/depcruise'), args, { cwd: ROOT, encoding: 'utf8' });
    expect(done.status).not.toBe(0);
    expect(done.stdout).toContain(rule);
    expect(done.stdout).toContain(`packages/server/src/${file}`);
  });
});
