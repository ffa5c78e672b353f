/**
 * Puts the demo into the web server's build: the wheel of its tasks and its workflows, so that the server can hand them out
 * wherever it runs. Without Python to build the wheel there is no demo, and everything else works.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { Plugin } from 'vite';

const RESOLVED = '\0virtual:demo';
const TASKS = join(import.meta.dirname, '../demo-tasks');

async function wheel(): Promise<{ name: string; base64: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'service-demo-'));
  try {
    const { stdout } = await promisify(execFile)('python3', [join(TASKS, 'build_backend.py'), folder]);
    const file = stdout.trim();
    return { name: basename(file), base64: await readFile(file, 'base64') };
  } finally {
    await rm(folder, { recursive: true });
  }
}

export const demo = (): Plugin => ({
  name: 'demo',
  resolveId: { filter: { id: /^virtual:demo$/ }, handler: () => RESOLVED },
  load: {
    filter: { id: /^\0virtual:demo$/ },
    async handler() {
      const shown = JSON.parse(await readFile(join(TASKS, 'workflows.json'), 'utf8')) as object;
      const made = await wheel().catch((reason: unknown) => {
        this.warn(`The demo is left out, because its tasks cannot be built: ${String(reason)}`);
        return null;
      });
      return `export default ${JSON.stringify({ ...shown, wheel: made })};`;
    },
  },
});
