/**
 * The real service, started from this checkout by another account, with a data folder of its own.
 *
 *     const service = await startService({ as: 'svcuser', env: databaseEnvironment });
 *     await service.kill();
 *     const again = await startService({ as: 'svcuser', env: databaseEnvironment, data: service.data });
 *
 * It has a mount namespace of its own: `stale(folder, service.pid)` makes it see old files.
 */
import { join } from 'node:path';

import { program, type Running, startCommand } from '../../support/processes.ts';
import { type Account, becoming, CHECKOUT, environmentOf, folderOf } from './commands.ts';

interface ServiceOptions {
  as: Account;
  /** Settings; without a database among them it uses the embedded one. */
  env?: Record<string, string>;
  data?: string;
  port?: number;
}

export interface ClusterService {
  url: string;
  data: string;
  pid: number;
  output(): string;
  /** Resolves with what it ended with. */
  stop(): Promise<number | NodeJS.Signals>;
  kill(): Promise<void>;
}

const READY = /answers at (http:\/\/\S+)/;

/** The process itself, before it answers. */
export const launchService = (as: Account, args: string[], environment: Record<string, string> = {}): Running =>
  startCommand(
    'unshare',
    [
      ...['--mount', '--propagation', 'slave', '--', ...becoming(as)],
      ...[join(CHECKOUT, 'node_modules/.bin/node'), program('start', environment), '--no-web', ...args],
    ],
    { folder: CHECKOUT, environment: { ...environmentOf(as), ...environment } },
  );

export async function startService({ as, env, data, port = 0 }: ServiceOptions): Promise<ClusterService> {
  const folder = data ?? folderOf(as);
  const running = launchService(as, ['--port', String(port), '--data-dir', folder], env);
  const [, url] = await running.said(READY);
  const end = (signal: NodeJS.Signals) => {
    running.process.kill(signal);
    return running.ended;
  };
  return {
    url: url!,
    data: folder,
    pid: running.process.pid!,
    output: running.output,
    stop: () => end('SIGTERM'),
    kill: async () => void (await end('SIGKILL')),
  };
}
