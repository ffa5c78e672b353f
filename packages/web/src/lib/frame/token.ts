/** The token of the session, for scripts. */
import { ApiProblem } from '../api/problem.ts';
import { listeners } from '../api/listeners.ts';
import { endpoint } from '../route.ts';

const ask = () => fetch(endpoint.token, { redirect: 'manual' });

export async function readToken(): Promise<string> {
  let response = await ask();
  // without a session the web server sends people to the sign-in page
  if (response.type === 'opaqueredirect' || response.status === 401) {
    await listeners.sessionEnd?.signInAgain();
    response = await ask();
  }
  if (!response.ok) throw new ApiProblem(response.status, 'Your token could not be read. Try again in a minute.');
  return response.text();
}
