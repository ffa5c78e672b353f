/** The web client and the manual as parts of the service: built when they have to be, loaded, and on the port of the API. */
import type { FastifyInstance } from 'fastify';

import type { Logger, Logging } from '../logging/index.ts';
import { type Settings, SettingsError } from '../settings/index.ts';
import { RELEASE } from '../version.ts';
import { ensureBuilt } from './build.ts';
import { currentBuild } from './builds.ts';
import { CLIENT, type Kind, MANUAL } from './kinds.ts';
import { type Manual, mountManual } from './manual.ts';
import { mountWeb } from './mount.ts';
import { clientVariables } from './variables.ts';

export interface WebParts {
  settings: Settings;
  logging: Logging;
  /** Where the service gives image files, if it does: `/data/`. */
  dataBase?: string | undefined;
  /** Where the variables of the client stand. */
  lookup(name: string): string | undefined;
}

export interface Web {
  /** To be called when the API answers. Gives back the address to open, or undefined when there are no pages. */
  open(address: string, stopping: AbortSignal): Promise<string | undefined>;
}

const repairOf = ({ command }: Kind) =>
  RELEASE ? 'Unpack the release again' : `Repair it with "npm ci && ${command}"`;

const LONGEST_REASON = 400;
const sentence = (text: string) =>
  text
    .trim()
    .replace(/\s*\n\s*/g, ' ')
    .slice(0, LONGEST_REASON)
    .replace(/\.?$/, '.');

/** An earlier build is better than none. */
async function usableBuild(kind: Kind, stopping: AbortSignal, onBuild: () => void): Promise<string> {
  try {
    return await ensureBuilt({ kind, onBuild, signal: stopping });
  } catch (error) {
    const earlier = currentBuild(kind);
    if (stopping.aborted || earlier === undefined) throw error;
    console.error(
      `The ${kind.name} could not be built: ${sentence((error as Error).message)} ` +
        `Its earlier build is used. ${repairOf(kind)} and start again.`,
    );
    return earlier;
  }
}

const sayThatClientIsBuilt = () =>
  console.log('Building the web client, once, about half a minute. The API answers already.');

/** Nobody waits for the manual: until it is built, its address says so. */
async function openManual(manual: Manual, stopping: AbortSignal, log: Logger): Promise<void> {
  try {
    await manual.load(await usableBuild(MANUAL, stopping, () => log.info('Building the manual')));
  } catch (error) {
    manual.giveUp();
    if (!stopping.aborted) log.warning(`There is no manual: ${sentence((error as Error).message)}`);
  }
}

/** To be called before the application listens. */
export function prepareWeb(app: FastifyInstance, { settings, logging, dataBase, lookup }: WebParts): Web {
  const log = logging.logger('web');
  const manual = mountManual(app);
  const mount = mountWeb(app, log, dataBase === undefined ? [] : [dataBase.replace(/\/$/, '')]);
  return {
    async open(address, stopping) {
      try {
        const build = await usableBuild(CLIENT, stopping, sayThatClientIsBuilt);
        await mount.load(build, clientVariables(settings, lookup, dataBase));
        void openManual(manual, stopping, log);
        return mount.origin() ?? address;
      } catch (error) {
        mount.giveUp();
        manual.giveUp();
        if (stopping.aborted) return undefined;
        const { message, kind } = error as Error & { kind?: string };
        if (kind === 'wrong-web-settings') throw new SettingsError(message, { of: 'web', cause: error });
        console.error(
          `The web client could not be started: ${sentence(message)} The API works without it. ` +
            `${repairOf(CLIENT)} and start again, or start with --no-web.`,
        );
        return undefined;
      }
    },
  };
}
