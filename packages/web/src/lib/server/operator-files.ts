/** Files of the operator that pages show. They are read on each load, so that a change is seen at once. */
import { LOGIN_INVITE_PATH, NEWS_INFO_PATH, WARNING_BANNER_PATH } from '$app/env/private';
import { readFile } from 'node:fs/promises';

import { causeOf } from './api.ts';
import { log } from './log.ts';
import { safeHtml, safeHtmlOfMarkdown } from './operator-html.ts';

async function contentOf(variable: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return (await readFile(path, 'utf8')).trim() || undefined;
  } catch (reason) {
    log.error(`${variable} cannot be read: ${causeOf(reason)}`);
    return undefined;
  }
}

/** Plain text; its line breaks are to be shown. */
export const readBanner = () => contentOf('WARNING_BANNER_PATH', WARNING_BANNER_PATH);

/** HTML that is safe to insert. */
export async function readNews(): Promise<string | undefined> {
  const text = await contentOf('NEWS_INFO_PATH', NEWS_INFO_PATH);
  return text === undefined ? undefined : safeHtmlOfMarkdown(text);
}

/** HTML that is safe to insert. */
export async function readInvite(): Promise<string | undefined> {
  const html = await contentOf('LOGIN_INVITE_PATH', LOGIN_INVITE_PATH);
  return html === undefined ? undefined : safeHtml(html);
}
