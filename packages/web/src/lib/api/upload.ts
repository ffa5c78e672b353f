/**
 * Sends what may be large, and tells how far it has come; `fetch` cannot.
 *
 *     const activity = await upload(addressOf('tasks.collectPip'), form, (part) => (sent = part));
 */
import { counted, formatBytes } from '../format.ts';
import { ApiProblem, readProblem } from './problem.ts';
import { listeners } from './listeners.ts';
import { clean } from './clean.ts';
import { writeJson } from '../json.ts';

/** From 0 to 1. */
export type Progress = (part: number) => void;

export interface Answered {
  status: number;
  text: string;
}

function post(address: string, body: Blob | FormData, onprogress: Progress): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', address);
    request.upload.onprogress = ({ loaded, total }) => onprogress(total > 0 ? loaded / total : 1);
    request.onload = () => resolve({ status: request.status, text: request.responseText });
    request.onerror = () => reject(new ApiProblem(0, 'The file did not arrive. Check your connection and try again.'));
    request.send(body);
  });
}

const bytesOf = (body: Blob | FormData): number =>
  body instanceof Blob
    ? body.size
    : [...body.values()].reduce((sum, value) => sum + (value instanceof Blob ? value.size : value.length), 0);

/** A refusal for its size, with the size. */
export function uploadProblem({ status, text }: Answered, bytes: number): ApiProblem {
  const problem = readProblem(status, text);
  if (status !== 413) return problem;
  const words = `This file has ${formatBytes(bytes)}, more than the server accepts at once. Ask your administrator to raise the limit, or split the file.`;
  return new ApiProblem(status, words, [], problem.body);
}

export async function upload(address: string, body: Blob | FormData, onprogress: Progress): Promise<unknown> {
  let answer = await post(address, body, onprogress);
  const end = listeners.sessionEnd;
  if (answer.status === 401 && end) {
    await end.signInAgain();
    answer = await post(address, body, onprogress);
  }
  if (answer.status >= 300) throw uploadProblem(answer, bytesOf(body));
  return JSON.parse(answer.text);
}

/**
 * Sends what was read from a file, such as a dataset of a hundred thousand images.
 *
 *     await uploadJson(addressOf('projects.importDataset', { params }), body, (part) => (sent = part));
 */
export function uploadJson(address: string, given: unknown, onprogress: Progress): Promise<unknown> {
  const { value, changed } = clean(given);
  if (changed.length > 0) listeners.cleaned?.([`${counted(changed.length, 'place')} of the file`]);
  return upload(address, new Blob([writeJson(value)], { type: 'application/json' }), onprogress);
}
