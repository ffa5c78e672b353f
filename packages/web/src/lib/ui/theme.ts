/** Light or dark: the system's choice until the reader makes one, which is kept in a cookie for the web server to see. */
export type Theme = 'light' | 'dark';

export const THEME_COOKIE = 'theme';
const ONE_YEAR = 31_536_000;

export const isTheme = (value: unknown): value is Theme => value === 'light' || value === 'dark';

/** Switches to the other one, seen from what is shown now. */
export function switchTheme(): void {
  const { dataset } = document.documentElement;
  const shown = isTheme(dataset['theme'])
    ? dataset['theme']
    : matchMedia('(prefers-color-scheme: dark)').matches
      ? 'dark'
      : 'light';
  const next: Theme = shown === 'dark' ? 'light' : 'dark';
  dataset['theme'] = next;
  document.cookie = `${THEME_COOKIE}=${next}; path=/; max-age=${ONE_YEAR}; samesite=lax`;
}
