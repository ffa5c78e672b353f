/** The built web server and a real API, as processes of their own, and a browser's part of talking to them. */
import { join } from 'node:path';

import {
  remove,
  ROOT,
  type Running,
  startCommand,
  startService,
  temporaryFolder,
} from '../../../../tests/support/processes.ts';
import { ensureBuilt } from '../../../server/src/web/build.ts';
import { atFileEnd } from '../../../server/test/support/file-end.ts';

const BIN = join(ROOT, 'node_modules/.bin');
export const START_MS = 180_000;

/** Files of one worker share this module: what a file starts ends with it, whoever imported this first. */
function endsWithFile(process: Running): Running {
  atFileEnd(() => {
    process.process.kill('SIGTERM');
    return process.ended;
  });
  return process;
}

export function folder(name: string): string {
  const made = temporaryFolder(name);
  atFileEnd(() => remove(made));
  return made;
}

export const ADMIN = { username: 'admin@example.org', password: 'admin-password' };

export async function startApi(environment: Record<string, string> = {}): Promise<{ url: string; running: Running }> {
  const data = join(folder('web-api'), 'data');
  const args = ['--port', '0', '--data-dir', data, '--admin-pwd', ADMIN.password];
  const service = endsWithFile(startService(args, { environment }));
  const [, url] = await service.said(/answers at (http:\/\/\S+)/);
  return { url: url!, running: service };
}

/** Variables of a web server that has all it needs. */
export const variables = (api: string) => ({
  SERVICE_SERVER_HOST: api,
  SERVICE_RUNNER_BACKEND: 'local',
  HOST: '127.0.0.1',
  PORT: '0',
});

export async function startWebProcess(environment: Record<string, string>): Promise<Running> {
  return endsWithFile(startCommand(join(BIN, 'node'), [await ensureBuilt()], { environment }));
}

export interface Web {
  url: string;
  output(): string;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** A form, as a browser without script sends it. */
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
}

export async function startWeb(api: string, environment: Record<string, string> = {}): Promise<Web> {
  const web = await startWebProcess({ ...variables(api), ...environment });
  const [, url] = await web.said(/Listening on (http:\/\/\S+)/);
  const accept = 'text/html';
  return {
    url: url!,
    output: web.output,
    get: (path, headers) => fetch(url + path, { redirect: 'manual', headers: { accept, ...headers } }),
    post: (path, fields, headers) =>
      fetch(url + path, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams(fields),
        headers: { accept, origin: url!, ...headers },
      }),
  };
}

/** The cookies that an answer leaves, as a browser sends them back; expired ones are gone. */
export function cookiesOf(response: Response): Record<string, string> {
  const kept = response.headers
    .getSetCookie()
    .filter((line) => !/Expires=Thu, 01 Jan 1970|Max-Age=0(;|$)/i.test(line))
    .map((line) => /^([^=]+)=([^;]*)/.exec(line)!);
  return Object.fromEntries(kept.map(([, name, value]) => [name!, value!]));
}

export const cookieHeader = (cookies: Record<string, string>) => ({
  cookie: Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join('; '),
});

/** Signs in and gives back the header with the session. */
export async function session(web: Web, who: { username: string; password: string } = ADMIN) {
  return cookieHeader(cookiesOf(await web.post('/auth/login?/login', who)));
}
