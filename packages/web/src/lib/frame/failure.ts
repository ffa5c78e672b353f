/** What the error page says: what could not be shown, why, and what helps. */
import { route as addressOf } from '../route.ts';

interface Failure {
  title: string;
  /** Where there is more to say than the service said. */
  hint?: string;
  /** Asking again could help. */
  retry: boolean;
  /** The nearest page above that should be there. */
  up?: { name: string; href: string };
}

const SUBJECTS: [route: RegExp, subject: string][] = [
  [/\/jobs\/\[/, 'This job'],
  [/\/jobs$/, 'These jobs'],
  [/\/workflows\/\[/, 'This workflow'],
  [/\/datasets\/\[/, 'This dataset'],
  [/\/datasets$/, 'The list of datasets'],
  [/\/sharing$/, 'Who this project is shared with'],
  [/\/projects\/\[/, 'This project'],
  [/\/projects$/, 'The list of projects'],
  [/\/templates/, 'The list of templates'],
  [/\/tasks/, 'The list of tasks'],
  [/\/profile/, 'Your profile'],
];

const subjectOf = (route: string | null) => SUBJECTS.find(([one]) => one.test(route ?? ''))?.[1] ?? 'This page';

const IN_PROJECT = new RegExp(`^${addressOf.projects()}/\\d+(?=/)`);

function above(pathname: string): Failure['up'] {
  const project = IN_PROJECT.exec(pathname)?.[0];
  if (project !== undefined) return { name: 'the project', href: project };
  if (pathname.startsWith(`${addressOf.admin.overview()}/`))
    return { name: 'the admin area', href: addressOf.admin.overview() };
  if (pathname.startsWith(`${addressOf.projects()}/`)) return { name: 'projects', href: addressOf.projects() };
  return undefined;
}

interface Given {
  status: number;
  route: string | null;
  pathname: string;
  /** Null when nobody is signed in. */
  user: { is_superuser: boolean; profile_id: number | null } | null;
}

export function failureOf({ status, route, pathname, user }: Given): Failure {
  const subject = subjectOf(route);
  const up = above(pathname);
  const rest = up === undefined ? {} : { up };
  if (status === 404 && route === null) return { title: 'There is no page at this address', retry: false };
  if (status === 404) return { title: `${subject} was not found`, retry: false, ...rest };
  if (status === 403 && user?.is_superuser && user.profile_id === null) {
    const hint = 'You have no profile yet, and this page needs one. Give yourself one in the admin area, under Users.';
    return {
      title: `${subject} cannot be shown`,
      hint,
      retry: true,
      up: { name: 'users', href: addressOf.admin.users() },
    };
  }
  if (status === 403) return { title: `${subject} is not shared with you`, retry: false, ...rest };
  if (status === 0 || status === 502 || status === 503 || status === 504)
    return { title: 'The service does not answer', retry: true };
  return { title: `${subject} could not be loaded`, retry: true, ...rest };
}
