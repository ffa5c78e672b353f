/** A file, or a part of it, as an answer: its headers, what a client has already, and bytes that never lie in memory whole. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BigIntStats } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';

import type { Opened } from '../folders/index.ts';
import { isSameForRange, isUnchanged, refuse } from '../http/index.ts';
import { rangeOf } from './ranges.ts';
import { readSmall, sendFile } from './send.ts';

const JSON_FILES = /(^|\/)(\.zattrs|\.zgroup|\.zarray|\.zmetadata|zarr\.json)$/;

export const mediaTypeOf = (path: string) => (JSON_FILES.test(path) ? 'application/json' : 'application/octet-stream');

/** For every file: a browser keeps it and asks whether it changed, and runs nothing that may be in it. */
export const FILE_HEADERS = {
  'accept-ranges': 'bytes',
  'cache-control': 'private, no-cache',
  'content-security-policy': 'sandbox',
  'cross-origin-resource-policy': 'same-origin',
};

const hex = (value: bigint) => value.toString(16);

const etagOf = ({ mtimeNs, ctimeNs, size }: BigIntStats) => `"${hex(mtimeNs)}-${hex(ctimeNs)}-${hex(size)}"`;

/** Takes the file over: it is closed here, whatever happens. */
export async function answerFile(
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  { file, stats }: Opened,
): Promise<FastifyReply> {
  const { headers, method } = request;
  const size = Number(stats.size);
  const version = { etag: etagOf(stats), modified: stats.mtime };
  reply.headers({ ...FILE_HEADERS, etag: version.etag, 'last-modified': stats.mtime.toUTCString() });
  try {
    if (isUnchanged(headers, version)) {
      await file.close();
      return reply.code(304).send();
    }
    reply.header('content-type', mediaTypeOf(path));
    const asked = method === 'GET' && isSameForRange(headers, version) ? rangeOf(headers.range, size) : undefined;
    if (asked === 'past') {
      throw refuse(416, `This file has ${size} bytes. Ask for a part of them.`, { 'content-range': `bytes */${size}` });
    }
    const { start, end } = asked ?? { start: 0, end: size - 1 };
    const length = end - start + 1;
    if (asked) reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`);
    reply.header('content-length', length);
    const small = method === 'HEAD' ? Buffer.alloc(0) : await readSmall(file, { start, length });
    if (small === undefined) {
      reply.hijack();
      reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
      void sendFile(reply.raw, file, { start, length });
      return reply;
    }
    await file.close();
    return reply.send(small);
  } catch (error) {
    await file.close();
    throw error;
  }
}
