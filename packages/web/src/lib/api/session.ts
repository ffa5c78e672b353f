/**
 * What happens when the API says that the session is over. The frame of the pages sets it: over a page people sign in
 * again and go on, on the way to another page they go through the sign-in page.
 */
export interface SessionEnd {
  /** Resolves when the same person is signed in again; throws an `ApiProblem` when that was given up. */
  signInAgain: () => Promise<void>;
  /** A page is on its way in; else what is loaded is for the page that is already there. */
  isOnTheWay: () => boolean;
  /** Leaves for the sign-in page; throws, as a redirection does. */
  leave: () => never;
}

let current: SessionEnd | undefined;

export function onSessionEnd(handlers: SessionEnd): void {
  current = handlers;
}

export const sessionEnd = (): SessionEnd | undefined => current;
