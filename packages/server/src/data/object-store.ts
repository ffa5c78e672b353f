/**
 * Files in object stores. The client for it is large and few sites need it, so it is used where somebody installed it:
 * `npm install @aws-sdk/client-s3`. Address, region and credentials come from its usual variables.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';

import { guarded, ignored } from '../guard.ts';
import { refuse } from '../http/index.ts';
import { FILE_HEADERS, mediaTypeOf } from './answer.ts';

/** What is used of the package. */
export interface S3Package {
  S3Client: new (options: object) => { send(command: unknown, options: { abortSignal: AbortSignal }): Promise<Got> };
  GetObjectCommand: new (input: object) => unknown;
  HeadObjectCommand: new (input: object) => unknown;
}

interface Got {
  Body?: Readable;
  ContentLength?: number;
  ContentRange?: string;
  ETag?: string;
  LastModified?: Date;
}

interface StoreError {
  name?: string;
  $metadata?: { httpStatusCode?: number };
}

const PACKAGE: string = '@aws-sdk/client-s3';

const NOT_INSTALLED =
  'This service cannot read object stores: the package @aws-sdk/client-s3 is not installed. Ask an administrator to install it.';

/** Undefined where the package is not installed. */
async function installed(): Promise<S3Package | undefined> {
  try {
    return (await import(PACKAGE)) as S3Package;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

const ANSWERS: Record<number, string> = {
  403: 'The object store does not let this service read this file. Ask an administrator to check its credentials.',
  404: 'There is no such file.',
  416: 'The file ends before the part that you asked for.',
};

function refusalOf(error: unknown): unknown {
  const status = (error as StoreError).$metadata?.httpStatusCode ?? 0;
  if (status === 304) return 304;
  const text = ANSWERS[status];
  return text === undefined ? error : refuse(status, text);
}

/** What the store is asked together with the file. Several ranges at once are answered with the whole file. */
function conditionsOf({ headers }: FastifyRequest): object {
  const { range } = headers;
  const [ifNone, ifSince] = [headers['if-none-match'], headers['if-modified-since']];
  return {
    ...(range === undefined || range.includes(',') ? {} : { Range: range }),
    ...(ifNone === undefined ? {} : { IfNoneMatch: ifNone }),
    ...(ifSince === undefined ? {} : { IfModifiedSince: new Date(ifSince) }),
  };
}

function headersOf({ ETag, LastModified, ContentLength, ContentRange }: Got): Record<string, string> {
  return {
    ...(ETag === undefined ? {} : { etag: ETag }),
    ...(LastModified === undefined ? {} : { 'last-modified': LastModified.toUTCString() }),
    ...(ContentLength === undefined ? {} : { 'content-length': String(ContentLength) }),
    ...(ContentRange === undefined ? {} : { 'content-range': ContentRange }),
  };
}

export interface ObjectStores {
  /** `path` is `s3://bucket/key`. */
  answer(request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply>;
}

export function createObjectStores(load: () => Promise<S3Package | undefined> = installed): ObjectStores {
  let ready: Promise<{ module: S3Package; client: InstanceType<S3Package['S3Client']> } | undefined> | undefined;
  const start = async () => {
    const module = await load();
    return module && { module, client: new module.S3Client({}) };
  };

  return {
    async answer(request, reply, path) {
      ready ??= start();
      const found = await ready;
      if (!found) throw refuse(501, NOT_INSTALLED);
      const [, Bucket = '', Key = ''] = /^s3:\/\/([^/]*)\/?(.*)$/.exec(path) ?? [];
      if (Bucket === '' || Key === '') throw refuse(400, 'Give a bucket and a key: files/s3://bucket/key.');
      const gone = new AbortController();
      request.raw.once(
        'close',
        guarded(() => gone.abort(), ignored),
      );
      reply.headers(FILE_HEADERS);
      const { GetObjectCommand, HeadObjectCommand } = found.module;
      const object = { Bucket, Key };
      const isHead = request.method === 'HEAD';
      const command = isHead
        ? new HeadObjectCommand(object)
        : new GetObjectCommand({ ...object, ...conditionsOf(request) });
      let got: Got;
      try {
        got = await found.client.send(command, { abortSignal: gone.signal });
      } catch (error) {
        const refusal = refusalOf(error);
        if (refusal === 304) return reply.code(304).send();
        throw refusal;
      }
      if (got.ContentRange !== undefined) reply.code(206);
      reply.headers({ 'content-type': mediaTypeOf(path), ...headersOf(got) });
      return reply.send(got.Body ?? '');
    },
  };
}
