/** The token of the session, for scripts. */
import { ApiProblem } from '../api/problem.ts';
import { sessionEnd } from '../api/session.ts';

const ask = () => fetch('/profile/token', { redirect: 'manual' });

export async function readToken(): Promise<string> {
  let response = await ask();
  // without a session the web server sends people to the sign-in page
  if (response.type === 'opaqueredirect' || response.status === 401) {
    await sessionEnd()?.signInAgain();
    response = await ask();
  }
  if (!response.ok) throw new ApiProblem(response.status, 'Your token could not be read. Try again in a minute.');
  return response.text();
}
