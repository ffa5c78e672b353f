/** Notices outside the page, from the browser itself: only where the reader switched them on, in this browser. */
const KEY = 'job-notifications';

export type Permission = NotificationPermission | 'unknown';

/** `unknown` where the browser has none, as on plain http. */
export const permission = (): Permission =>
  typeof Notification === 'undefined' || !isSecureContext ? 'unknown' : Notification.permission;

export const notifiesOn = (): boolean => permission() === 'granted' && localStorage.getItem(KEY) === 'on';

/** Asks the browser if needed. False when it does not let us. */
export async function setNotifies(on: boolean): Promise<boolean> {
  if (!on) {
    localStorage.removeItem(KEY);
    return true;
  }
  if (permission() === 'unknown') return false;
  if ((await Notification.requestPermission()) !== 'granted') return false;
  localStorage.setItem(KEY, 'on');
  return true;
}

/** One for all tabs: the same tag replaces. */
export function notify(title: string, body: string, tag: string, onclick: () => void): void {
  if (!notifiesOn()) return;
  const notification = new Notification(title, { body, tag });
  notification.onclick = () => {
    window.focus();
    notification.close();
    onclick();
  };
}
