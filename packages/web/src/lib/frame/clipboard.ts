/** Text for the clipboard that has to be fetched first. */
import { ApiProblem } from '../api/problem.ts';
import { sessionEnd } from '../api/session.ts';

/**
 * Call it in the click itself: Safari lets a page write only then, so the writing begins with a promise of the text. False
 * when this browser lets no page write, as on plain http.
 */
export async function copyWhenReady(text: Promise<string>): Promise<boolean> {
  if (navigator.clipboard === undefined) return false;
  try {
    const blob = text.then((ready) => new Blob([ready], { type: 'text/plain' }));
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
    return true;
  } catch {
    // says why, if it was the text
    await text;
    return false;
  }
}

const ask = () => fetch('/profile/token', { redirect: 'manual' });

/** The token of the session. */
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
