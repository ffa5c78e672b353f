/** The clipboard, which not every browser lets a page write to: on plain http there is none. */
import { toast } from './toasts.svelte.ts';

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
  toast(done ? words : 'This browser does not allow copying here. Mark the text and copy it by hand.');
}
