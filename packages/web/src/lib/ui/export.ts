/** What the reader takes along: files, made here or fetched, and the clipboard. What fails is thrown before anything is saved. */
import { answered } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { toast } from './toasts.svelte.ts';

export function saveFile(name: string, content: BlobPart, type = 'application/json'): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** For answers that may be refused: a plain link would show the refusal as a page. */
export async function saveFrom(address: string, name: string, init?: RequestInit): Promise<void> {
  const response = await answered(address, init);
  if (!response.ok) throw await problemOf(response);
  saveFile(name, await response.blob(), response.headers.get('content-type') ?? 'application/octet-stream');
}

/** The clipboard, which not every browser lets a page write to: on plain http there is none. */

/**
 * For text that has to be fetched first. Call it in the click itself: Safari lets a page write only then, so the writing
 * begins with a promise of the text. False when this browser lets no page write.
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

export const copyText = (text: string): Promise<boolean> => copyWhenReady(Promise.resolve(text));

/** Copies, and says so or what to do instead. */
export async function copyAndSay(text: string, words: string): Promise<void> {
  const done = await copyText(text);
  toast(done ? words : 'This browser does not allow copying here. Select the text and copy it yourself.');
}
