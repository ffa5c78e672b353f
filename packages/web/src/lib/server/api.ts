/** The web server's calls to the API. The browser never calls the API itself. */
import { SERVICE_SERVER_HOST } from '$app/env/private';
import { accounts } from '@service/contract';

const ALIVE_WITHIN_MS = 3000;

/** The version of the API, or undefined when the API does not answer as it should. */
export async function apiVersion(): Promise<string | undefined> {
  const { path, answer } = accounts.alive;
  const url = SERVICE_SERVER_HOST + path;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ALIVE_WITHIN_MS) });
    if (response.status !== answer.status) throw new Error(`status ${response.status}`);
    const alive = answer.schema?.parse(await response.json());
    return alive?.alive ? alive.version : undefined;
  } catch (reason) {
    console.warn(`No proper answer from ${url}:`, reason);
    return undefined;
  }
}
