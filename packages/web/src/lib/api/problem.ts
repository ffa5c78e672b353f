/** What a refusal of the API says: words for people, and which field is meant where there is one. */

export interface FieldProblem {
  /** The path inside the body: `['name']`, `['slurm_accounts', 0]`. */
  path: (string | number)[];
  message: string;
}

export class ApiProblem extends Error {
  /** 0 when there was no answer. */
  readonly status: number;
  readonly fields: FieldProblem[];
  /** The body as it came, for answers that carry data. */
  readonly body: unknown;
  /** To tell the people who run the service; they find it in the log. */
  requestId?: string | undefined;

  constructor(status: number, message: string, fields: FieldProblem[] = [], body: unknown = undefined) {
    super(message);
    this.status = status;
    this.fields = fields;
    this.body = body;
  }
}

interface Entry {
  loc: (string | number)[];
  msg: string;
}

const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && 'loc' in value && 'msg' in value;

const said = (message: string) => message.replace(/^Value error, /, '');

/** Entries of a validation error: the place without "body", the words without their prefix. */
function fieldsOf(entries: Entry[]): FieldProblem[] {
  return entries.map(({ loc, msg }) => ({
    path: loc.slice(1).filter((part) => part !== '__root__'),
    message: said(msg),
  }));
}

const STATUS_WORDS: Record<number, string> = {
  401: 'Your session has ended. Sign in again.',
  403: 'You don’t have permission to do this.',
  404: 'Not found. It may have been deleted.',
  413: 'This is larger than the server accepts.',
  500: 'Server error. If it keeps happening, contact your administrator.',
};

export function readProblem(status: number, text: string): ApiProblem {
  const fallback = STATUS_WORDS[status] ?? `The service answered with status ${status}.`;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return new ApiProblem(status, fallback);
  }
  const { detail, message } = (body ?? {}) as { detail?: unknown; message?: unknown };
  if (typeof detail === 'string') return new ApiProblem(status, detail, [], body);
  if (Array.isArray(detail) && detail.length > 0) {
    if (detail.every(isEntry)) {
      const fields = fieldsOf(detail);
      const words = fields.map(
        (field) => `${field.path.length > 0 ? `${field.path.join('.')}: ` : ''}${field.message}`,
      );
      return new ApiProblem(status, fields.length === 1 ? fields[0]!.message : words.join(' '), fields, body);
    }
    return new ApiProblem(status, detail.map(String).join(' '), [], body);
  }
  return new ApiProblem(status, typeof message === 'string' ? message : fallback, [], body);
}

export async function problemOf(response: Response): Promise<ApiProblem> {
  const problem = readProblem(response.status, await response.text());
  problem.requestId = response.headers.get('x-request-id') ?? undefined;
  return problem;
}

/** Refusals that would say too little: about which field. */

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
