/** What is there for a test file and ends with it, wherever it was asked for: in the file, in a hook or in a test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const endings: (() => unknown)[] = [];
const folders: string[] = [];

export const atFileEnd = (ending: () => unknown): void => void endings.push(ending);

export function temporaryFolder(kind: string): string {
  const folder = mkdtempSync(join(tmpdir(), `service-${kind}-`));
  folders.push(folder);
  return folder;
}

function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** The last one first; folders when nobody uses them any more. */
export async function endFile(): Promise<void> {
  for (const ending of endings.splice(0).toReversed()) await ending();
  removeFolders();
}

// outside of tests, such as in a bench
if (!process.env['VITEST']) process.once('exit', removeFolders);
