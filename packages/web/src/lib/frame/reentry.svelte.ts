/**
 * Signing in again over the page, after the session ended: calls that were refused wait, and go on when the same person is
 * back. For somebody else the page is loaded anew; what was typed stays with the person who typed it.
 */
import { deserialize } from '$app/forms';
import { navigating } from '$app/state';
import { redirect } from '@sveltejs/kit';

import { addressOf } from '../api/client.ts';
import { ApiProblem } from '../api/problem.ts';
import { listen } from '../api/listeners.ts';
import { route } from '../route.ts';

const GIVEN_UP = 'Your session has ended, and nothing was sent. Sign in again to continue.';
const LOGIN = route.signIn();
const NO_ANSWER = 'The service does not answer. Try again in a minute.';

interface Waiting {
  go: () => void;
  giveUp: (why: ApiProblem) => void;
}

let waiting = $state<Waiting[]>([]);
/** Whose page this is. */
let person: string | undefined;

export const reentry = {
  get isNeeded(): boolean {
    return waiting.length > 0;
  },
  /** Closes the dialog without a session: what waited is told so. */
  giveUp(): void {
    for (const { giveUp } of waiting) giveUp(new ApiProblem(401, GIVEN_UP));
    waiting = [];
  },
};

const own = (url: Pick<URL, 'pathname' | 'search'>) => url.pathname + url.search;

/** The sign-in page, with the way back. */
export const loginAddress = (next: string): string => route.signIn({ invalidate: true, next });

/** Called by the frame whenever it knows who is signed in. */
export function takeCareOfSession(email: string | undefined): void {
  person = email;
  listen({
    sessionEnd: {
      signInAgain: () => {
        // a late answer to a page that was left; here people sign in already
        if (location.pathname.startsWith(LOGIN)) return Promise.reject(new ApiProblem(401, GIVEN_UP));
        return new Promise((go, giveUp) => waiting.push({ go, giveUp }));
      },
      isOnTheWay: () => navigating.to !== null,
      leave: () => redirect(302, loginAddress(own(navigating.to?.url ?? location))),
    },
  });
}

async function whoIsThere(): Promise<string | undefined> {
  const response = await fetch(addressOf('accounts.currentUser'));
  return response.ok ? ((await response.json()) as { email: string }).email : undefined;
}

/** Goes on, if somebody is signed in by now; also in another tab of this browser. False when nobody is. */
export async function goOn(): Promise<boolean> {
  const email = await whoIsThere().catch(() => undefined);
  if (email === undefined) return false;
  if (person !== undefined && email !== person) {
    location.reload();
    return true;
  }
  for (const { go } of waiting) go();
  waiting = [];
  return true;
}

/** Signs in without leaving the page. Undefined when it worked, else why not. */
export async function signInHere(form: FormData): Promise<string | undefined> {
  try {
    const response = await fetch(`${LOGIN}?/login`, {
      method: 'POST',
      body: form,
      headers: { accept: 'application/json', 'x-sveltekit-action': 'true' },
    });
    const result = deserialize<Record<string, unknown>, { problem?: string }>(await response.text());
    if (result.type === 'failure') return result.data?.problem ?? NO_ANSWER;
    if (result.type === 'error') return NO_ANSWER;
    return (await goOn()) ? undefined : NO_ANSWER;
  } catch {
    return NO_ANSWER;
  }
}

/** Somebody wants to sign out. The frame asks first, when edits that nobody saved would be dropped. */
let isAsked = $state(false);

export const leaving = {
  get isAsked(): boolean {
    return isAsked;
  },
  set isAsked(asked: boolean) {
    isAsked = asked;
  },
};

/** Whether somebody was signed in in this tab, so that the login page can tell that a session has ended. */
const KEY = 'signed-in';

export const rememberSignIn = (isSignedIn: boolean) =>
  isSignedIn ? sessionStorage.setItem(KEY, 'true') : sessionStorage.removeItem(KEY);

export const wasSignedIn = () => sessionStorage.getItem(KEY) !== null;
