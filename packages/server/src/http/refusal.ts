/**
 * Refusals: what the service says when it does not do what was asked.
 *
 *     throw refuse(404, 'There is no group with this id.');
 *
 * A refusal is an answer, not a defect: it has no stack, is not logged as an error, and rolls back the transaction it
 * leaves.
 */
import type { ValidationEntry } from '@service/contract';

export class Refusal {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(status: number, body: Record<string, unknown>, headers: Record<string, string> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

const PHRASES: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
};

/** A refusal with a text for people, or a code that clients know. */
export const refuse = (
  status: number,
  detail: string | object = PHRASES[status] ?? 'Refused',
  headers?: Record<string, string>,
) => new Refusal(status, { detail }, headers);

export const invalid = (entries: ValidationEntry[]) => new Refusal(422, { detail: entries });
