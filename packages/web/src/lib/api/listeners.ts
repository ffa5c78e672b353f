/**
 * What the frame of the pages is told about calls. Only it knows how to show something, so it says who listens; without
 * anybody, as on the web server, nothing is told.
 *
 *     listen({ noAnswer: () => void askAgain() });
 */

/** What happens when the API says that the session is over. */
interface SessionEnd {
  /** Resolves when the same person is signed in again; throws an `ApiProblem` when that was given up. */
  signInAgain: () => Promise<void>;
  /** A page is on its way in; else what is loaded is for the page that is already there. */
  isOnTheWay: () => boolean;
  /** Leaves for the sign-in page; throws, as a redirection does. */
  leave: () => never;
}

interface Listeners {
  /** A call got no proper answer: is the service there at all? */
  noAnswer: () => void;
  /** Over a page people sign in again and go on, on the way to another page they go through the sign-in page. */
  sessionEnd: SessionEnd;
  /** What was typed into these fields is not sent as it was typed. */
  cleaned: (fields: string[]) => void;
}

export const listeners: Readonly<Partial<Listeners>> = {};

export const listen = (more: Partial<Listeners>): void => void Object.assign(listeners, more);
