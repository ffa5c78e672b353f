/** Refusals that would say too little: about which field, about how large a file. */
import { ApiProblem, readProblem } from '../api/problem.ts';
import { formatBytes } from '../ui/format.ts';

/**
 * A name that is taken is told at the name.
 *
 *     await work.run(() => about('name', call('projects.createProject', { body })));
 */
export async function about<T>(field: 'name' | 'version' | 'email', answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.fields.length > 0 || ![404, 422].includes(error.status)) throw error;
    const means = { name: /\bname\b/, version: /\bversion\b/, email: /\buser\b/ }[field];
    if (!means.test(error.message)) throw error;
    throw new ApiProblem(error.status, error.message, [{ path: [field], message: error.message }], error.body);
  }
}

export interface Answered {
  status: number;
  text: string;
}

/** A refusal for its size, with the size. */
export function uploadProblem({ status, text }: Answered, bytes: number): ApiProblem {
  const problem = readProblem(status, text);
  if (status !== 413) return problem;
  const words = `This file has ${formatBytes(bytes)}, more than the service takes at once. Ask the people who run it to allow more, or split the file.`;
  return new ApiProblem(status, words, [], problem.body);
}
