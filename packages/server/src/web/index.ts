/** The web client as a part of the service: built when it has to be, loaded, and on the port of the API. */
import type { FastifyInstance } from 'fastify';

import type { Logging } from '../logging/index.ts';
import { type Settings, SettingsError } from '../settings/index.ts';
import { RELEASE } from '../version.ts';
import { ensureBuilt, WEB } from './build.ts';
import { currentBuild } from './builds.ts';
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

const REPAIR = RELEASE ? 'Unpack the release again' : 'Repair it with "npm ci && npm run build:web"';
const EARLIER = `Its earlier build is used. ${REPAIR} and start again.`;

const LONGEST_REASON = 400;
const sentence = (text: string) =>
  text
    .trim()
    .replace(/\s*\n\s*/g, ' ')
    .slice(0, LONGEST_REASON)
    .replace(/\.?$/, '.');

/** An earlier build is better than none. */
async function usableBuild(stopping: AbortSignal): Promise<string> {
  const onBuild = () => console.log('Building the web client, once, about half a minute. The API answers already.');
  try {
    return await ensureBuilt({ onBuild, signal: stopping });
  } catch (error) {
    const earlier = currentBuild(WEB);
    if (stopping.aborted || earlier === undefined) throw error;
    console.error(`The web client could not be built: ${sentence((error as Error).message)} ${EARLIER}`);
    return earlier;
  }
}

/** To be called before the application listens. */
export function prepareWeb(app: FastifyInstance, { settings, logging, dataBase, lookup }: WebParts): Web {
  const log = logging.logger('web');
  const mount = mountWeb(app, log, dataBase === undefined ? [] : [dataBase.replace(/\/$/, '')]);
  return {
    async open(address, stopping) {
      try {
        await mount.load(await usableBuild(stopping), clientVariables(settings, lookup, dataBase));
        return mount.origin() ?? address;
      } catch (error) {
        mount.giveUp();
        if (stopping.aborted) return undefined;
        const { message } = error as Error;
        if (message.startsWith('The web server cannot start.'))
          throw new SettingsError(message, { of: 'web', cause: error });
        console.error(
          `The web client could not be started: ${sentence(message)} The API works without it. ` +
            `${REPAIR} and start again, or start with --no-web.`,
        );
        return undefined;
      }
    },
  };
}
