/**
 * How long answers may be kept. None is, since they are for one person at one moment; but for files, which the browser of
 * that person keeps and asks each time whether they are still the same.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';

export const NOT_KEPT = 'no-store';
const KEPT_AND_ASKED_FOR = 'private, no-cache';

/** A name for a content: of its text, or of whatever changes with it. */
export const entityTag = (...parts: string[]): string =>
  `"${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27)}"`;

export interface Version {
  /** With its quotation marks. */
  etag: string;
  modified?: Date;
}

const weak = (etag: string) => etag.trim().replace(/^W\//, '');

const inSeconds = (moment: Date) => Math.floor(moment.getTime() / 1000);

/** Whether a client has it already, by `If-None-Match`, and where that is missing `If-Modified-Since`. */
export function isUnchanged(headers: IncomingHttpHeaders, { etag, modified }: Version): boolean {
  const known = headers['if-none-match'];
  if (known !== undefined) return known.trim() === '*' || known.split(',').some((one) => weak(one) === weak(etag));
  const since = Date.parse(headers['if-modified-since'] ?? '');
  return modified !== undefined && !Number.isNaN(since) && inSeconds(modified) <= inSeconds(new Date(since));
}

/** For `If-Range`: whether a part of this version fits to the parts that the client has. */
export function isSameForRange(headers: IncomingHttpHeaders, { etag, modified }: Version): boolean {
  const condition = headers['if-range'];
  if (typeof condition !== 'string') return true;
  if (condition.startsWith('"')) return condition === etag;
  const since = Date.parse(condition);
  return modified !== undefined && !Number.isNaN(since) && inSeconds(modified) === inSeconds(new Date(since));
}

/** Says that a file may be kept under this tag; true when the caller has it already, and nothing has to be sent. */
export function isKnownFile(request: FastifyRequest, reply: FastifyReply, tag: string): boolean {
  reply.headers({ 'cache-control': KEPT_AND_ASKED_FOR, etag: tag });
  return request.method === 'GET' && isUnchanged(request.headers, { etag: tag });
}
