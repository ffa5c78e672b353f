/** Reads forms, urlencoded or multipart, as existing clients send them. A field given twice counts once: the last time. */
import type { FastifyRequest } from 'fastify';

import { refuse } from './refusal.ts';

export type Form = Record<string, string>;

/** An empty field counts as absent. */
const withoutEmpty = (form: Form): Form => Object.fromEntries(Object.entries(form).filter(([, value]) => value !== ''));

export const parseUrlencoded = (bytes: Buffer): Form =>
  withoutEmpty(Object.fromEntries(new URLSearchParams(bytes.toString('utf8'))));

export async function parseMultipart(request: FastifyRequest): Promise<Form> {
  const form: Form = {};
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') form[part.fieldname] = String(part.value);
      else await part.toBuffer();
    }
  } catch (error) {
    const { statusCode } = error as { statusCode?: number };
    throw statusCode === 413
      ? refuse(413, 'This form is too large.')
      : refuse(400, 'The form cannot be read. Send it as multipart/form-data with its boundary, or urlencoded.');
  }
  return withoutEmpty(form);
}
