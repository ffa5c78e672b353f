/** Whether somebody was signed in in this tab, so that the login page can tell that a session has ended. */
const KEY = 'signed-in';

export const rememberSignIn = (isSignedIn: boolean) =>
  isSignedIn ? sessionStorage.setItem(KEY, 'true') : sessionStorage.removeItem(KEY);

export const wasSignedIn = () => sessionStorage.getItem(KEY) !== null;
