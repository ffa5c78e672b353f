/** The commands of the page about moving, from the first to the last, as somebody enters them who moves a deployment. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { importScene, settingsFor } from './support/importing.ts';
import { exchanged, linesOf, runBlock } from './support/manual-commands.ts';
import { type Block, blockOf } from './support/manual-texts.ts';

const PAGE = 'docs/operate/moving.md';
const scene = importScene();
const { connection, folder } = scene;

it('a deployment is moved by the commands of the manual, in their order', async () => {
  const reader = `reader_${randomBytes(4).toString('hex')}`;
  const passwords = join(folder, 'pgpass');
  const { host, port, user, password } = connection;
  const address = `${host}:${port}`;
  const owner = { PGHOST: host, PGPORT: String(port), PGUSER: user!, PGPASSWORD: password! };
  const { PGPASSWORD: _, ...settings } = settingsFor(connection, scene.target);
  const old = scene.from.name;
  await scene.from.leave();

  const begin = blockOf('docs/operate/moving.md', 'OLD=postgresql');
  const here = { 'reader@db.example.org:5432/old': `${reader}@${address}/${old}`, '/srv/service': folder };
  /** In the terminal in which the first block was entered. */
  const enter = (block: Block, replace: Record<string, string> = {}) =>
    runBlock([begin, block], {
      folder,
      replace: { ...here, ...replace },
      environment: { ...settings, PGPASSFILE: passwords },
    });
  const asOwner = (block: Block, replace: Record<string, string>) =>
    runBlock(block, { folder, replace, environment: owner });

  try {
    const role = exchanged(blockOf('docs/operate/moving.md', 'create role reader'), { reader, '…': 'reading' });
    expect(asOwner(linesOf(`psql -q ${old} <<'END'\n${role}END`), {})).toEqual({ code: 0, out: '', err: '' });

    const password = { 'db.example.org:5432:old:reader:…': `${host}:${port}:${old}:${reader}:reading` };
    const got = enter(blockOf('docs/operate/moving.md', '.pgpass'), { ...password, '~/.pgpass': passwords });
    expect(got).toMatchObject({ code: 0, out: expect.stringMatching(/^3ddaf7271fc3\|\d+ [kM]B\n$/) as string });

    const trial = enter(blockOf('docs/operate/moving.md', '--dry-run'));
    expect([trial.code, trial.err]).toEqual([0, expect.stringMatching(/^\s*real\s/)]);
    // what the page shows of it: the head of the table and the last line, and rows that are like these
    const shown = blockOf('docs/operate/moving.md', 'This was a trial').text.trim().split('\n');
    const words = (line: string) => line.trim().replaceAll(/ {2,}/g, '  ');
    const said = trial.out.split('\n').map(words);
    expect(said).toContain(words(shown[0]!));
    expect(said).toContain(words(shown.at(-1)!));
    for (const name of ['users', 'images'])
      expect(trial.out).toMatch(new RegExp(`^${name} +\\d+ +\\d+ +\\d+ +\\d+ {2}ok$`, 'm'));
    expect(await scene.rowsInTarget()).toBe(0);

    const closed = asOwner(blockOf('docs/operate/moving.md', 'prevent_new_submissions'), { 'psql old': `psql ${old}` });
    expect(closed).toMatchObject({ code: 0, out: expect.stringMatching(/^UPDATE \d+$/m) as string });

    const dumped = enter(blockOf('docs/operate/moving.md', 'pg_dump -Fc'));
    expect([dumped.code, dumped.err]).toEqual([0, '']);
    expect(dumped.out.trim().split('\n')).toHaveLength(2);

    const imported = enter(blockOf('docs/operate/moving.md', '--report import.json'));
    expect(imported).toMatchObject({ code: 0, err: '' });
    expect(imported.out).toMatch(/^Imported and verified\.$[^]*^exit code 0\n$/m);
    expect(JSON.parse(readFileSync(join(folder, 'import.json'), 'utf8'))).toMatchObject({ dry_run: false });
    expect(existsSync(join(folder, 'trial.json'))).toBe(true);
    const [resource] = await scene.administer<{ closed: boolean }>(
      'select bool_and(prevent_new_submissions) as closed from resources',
      scene.target,
    );
    expect(resource).toEqual({ closed: true });
  } finally {
    await scene.from.query(`drop owned by ${reader}`);
    await scene.administer(`drop role ${reader}`);
  }
}, 600_000);

it('no other command is on that page', () =>
  expect(readFileSync(join(import.meta.dirname, '..', PAGE), 'utf8').match(/^ *```\w/gm)).toHaveLength(7));
