import type { User } from '@service/contract';

declare global {
  namespace App {
    interface Locals {
      /** Who is signed in, as the API says. */
      user: User | undefined;
      apiAlive: boolean;
      /** An administrator looks at the service as `user`. */
      impersonating: boolean;
      /** What the home page tells once, such as the outcome of a registration. */
      notice?: string | undefined;
    }
    /** What a press of a button takes along to the next page. No link can: it would do something by being opened. */
    interface PageState {
      demo?: true;
    }
    interface Error {
      /** To tell the people who run the service; they find it in the log. */
      id?: string;
    }
  }
}
