/**
 * The version that clients are told, and that jobs and activities remember; and whether this is a release or a checkout.
 *
 * `npm run release` leaves `release.json` in the folder of the release, with the version and the commit it was made from.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Release {
  version: string;
  /** Of the sources, if it was known. */
  commit?: string;
  /** `linux-x64`: what its compiled parts are for. */
  platform: string;
}

/** Of the release, or of the checkout. */
export const ROOT_FOLDER = join(import.meta.dirname, '../../..');

const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as { version: string };
export const VERSION = manifest.version;

function readRelease(): Release | undefined {
  try {
    return JSON.parse(readFileSync(join(ROOT_FOLDER, 'release.json'), 'utf8')) as Release;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** What is known of the release that this is; undefined in a checkout. */
export const RELEASE = readRelease();

/** The commit of a checkout, if there is one and git is there to ask. */
function commitOfCheckout(): string | undefined {
  const words = ['-C', ROOT_FOLDER, 'describe', '--always', '--dirty', '--exclude=*'];
  const { status, stdout } = spawnSync('git', words, { encoding: 'utf8', timeout: 5000 });
  return status === 0 ? stdout.trim() : undefined;
}

/** `0.1.0 (commit 3af1321)` */
export function fullVersion(): string {
  const commit = RELEASE ? RELEASE.commit : commitOfCheckout();
  return commit === undefined ? VERSION : `${VERSION} (commit ${commit})`;
}
