/** Refusals that would say too little: about which field. */
import { ApiProblem } from '../api/problem.ts';

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
