/** Gives the reader a file, made here or fetched; what fails is thrown before anything is saved. */
import { answered } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';

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
