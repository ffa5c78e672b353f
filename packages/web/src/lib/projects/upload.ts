/**
 * Sends what may be large, such as a dataset of a hundred thousand images, and tells how far it has come; `fetch` cannot.
 *
 *     await upload(addressOf('projects.importDataset', { params }), body, (part) => (sent = part));
 */
import { clean } from '../api/clean.ts';
import { ApiProblem } from '../api/problem.ts';
import { sessionEnd } from '../api/session.ts';
import { writeJson } from '../json.ts';
import { counted } from '../ui/format.ts';
import { toast } from '../ui/toasts.svelte.ts';
import { type Answered, uploadProblem } from './refusals.ts';

type Progress = (part: number) => void;

function post(address: string, body: Blob, onprogress: Progress, signal?: AbortSignal): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', address);
    request.setRequestHeader('content-type', 'application/json');
    request.upload.onprogress = ({ loaded, total }) => onprogress(total > 0 ? loaded / total : 1);
    request.onload = () => resolve({ status: request.status, text: request.responseText });
    request.onabort = () => reject(new DOMException('Given up.', 'AbortError'));
    request.onerror = () => {
      const words = 'The file did not arrive. Look at your connection and try again.';
      reject(new ApiProblem(0, words));
    };
    signal?.addEventListener('abort', () => request.abort());
    request.send(body);
  });
}

export async function upload(
  address: string,
  given: unknown,
  onprogress: Progress,
  signal?: AbortSignal,
): Promise<unknown> {
  const { value, changed } = clean(given);
  if (changed.length > 0)
    toast(`Blanks and unseen signs were removed in ${counted(changed.length, 'place')} of the file.`);
  const body = new Blob([writeJson(value)]);
  let answer = await post(address, body, onprogress, signal);
  const end = sessionEnd();
  if (answer.status === 401 && end) {
    await end.signInAgain();
    answer = await post(address, body, onprogress, signal);
  }
  if (answer.status >= 300) throw uploadProblem(answer, body.size);
  return JSON.parse(answer.text);
}
