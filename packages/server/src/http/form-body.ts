/** Reads forms, urlencoded or multipart, as existing clients send them. A field given twice counts once: the last time. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import type { UploadedFile } from '@service/contract';

import { refuse } from './refusal.ts';

type Form = Record<string, string | UploadedFile>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Where uploaded files lie until the request is over. */
    uploads: string | undefined;
  }
}

/** An empty field counts as absent. */
const withoutEmpty = (form: Form): Form => Object.fromEntries(Object.entries(form).filter(([, value]) => value !== ''));

export const parseUrlencoded = (bytes: Buffer): Form =>
  withoutEmpty(Object.fromEntries(new URLSearchParams(bytes.toString('utf8'))));

type FilePart = Extract<Awaited<ReturnType<FastifyRequest['file']>>, object>;

/** Uploads go to disk as they come, whatever their size. */
async function keep(request: FastifyRequest, part: FilePart): Promise<UploadedFile> {
  request.uploads ??= await mkdtemp(join(tmpdir(), 'service-upload-'));
  const path = join(request.uploads, String(Math.random()).slice(2));
  const file = createWriteStream(path);
  await pipeline(part.file, file);
  if (part.file.truncated)
    throw refuse(413, 'This file is larger than the settings allow. Ask an administrator for a larger limit.');
  return { filename: part.filename ?? '', path, bytes: file.bytesWritten };
}

export async function parseMultipart(request: FastifyRequest): Promise<Form> {
  const form: Form = {};
  try {
    for await (const part of request.parts()) {
      form[part.fieldname] = part.type === 'field' ? String(part.value) : await keep(request, part);
    }
  } catch (error) {
    const { statusCode, status } = error as { statusCode?: number; status?: number };
    if (status !== undefined) throw error;
    throw statusCode === 413
      ? refuse(413, 'This form is too large.')
      : refuse(400, 'The form cannot be read. Send it as multipart/form-data with its boundary, or urlencoded.');
  }
  return withoutEmpty(form);
}

/** Removes uploaded files when their request is over; who needs one longer has copied it. */
export function clearUploads(app: FastifyInstance): void {
  app.decorateRequest('uploads', undefined);
  app.addHook('onResponse', async (request) => {
    if (request.uploads !== undefined) await rm(request.uploads, { recursive: true, force: true });
  });
}
