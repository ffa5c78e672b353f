/**
 * How long answers may be kept. None is, since they are for one person at one moment; but for files, which the browser of
 * that person keeps and asks each time whether they are still the same.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

export const NOT_KEPT = 'no-store';
const KEPT_AND_ASKED_FOR = 'private, no-cache';

/** A name for a content: of its text, or of whatever changes with it. */
export const entityTag = (...parts: string[]): string =>
  `"${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27)}"`;

const tagsIn = (header: string) => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));

/** Says that a file may be kept under this tag; true when the caller has it already, and nothing has to be sent. */
export function isKnownFile(request: FastifyRequest, reply: FastifyReply, tag: string): boolean {
  reply.headers({ 'cache-control': KEPT_AND_ASKED_FOR, etag: tag });
  const known = request.method === 'GET' ? tagsIn(request.headers['if-none-match'] ?? '') : [];
  return known.includes(tag) || known.includes('*');
}
