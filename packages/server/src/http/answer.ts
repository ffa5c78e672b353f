/** What a handler gave, as the answer to its request. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { type Operation, parseJson } from '@service/contract';

import { entityTag, isKnownFile } from './caching.ts';
import { Streamed } from './streamed.ts';
import { Written } from './written.ts';

/** Tests let every answer be compared with its schema. */
export function checkAnswer(operation: Operation, answer: unknown): void {
  const schema = operation.answer.schema;
  if (!schema) {
    if (answer !== undefined) throw new Error(`${operation.id} answers a body that its contract does not know`);
    return;
  }
  const strict = schema instanceof z.ZodObject ? schema.strict() : schema;
  const result = strict.safeParse(answer instanceof Written ? parseJson(answer.text) : answer);
  if (!result.success) throw new Error(`${operation.id} breaks its contract: ${z.prettifyError(result.error)}`);
}

function textOf(answer: unknown, mediaType: string): string {
  if (answer instanceof Written) return answer.text;
  return typeof answer === 'string' && mediaType !== 'application/json' ? answer : JSON.stringify(answer);
}

/** A file that the caller has already is not sent again. */
export function sendAnswer(
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: unknown,
): FastifyReply {
  const { status, mediaType } = operation.answer;
  if (answer instanceof Streamed) {
    if (operation.file && answer.tag !== undefined && isKnownFile(request, reply, answer.tag)) {
      answer.body.destroy();
      return reply.code(304).send();
    }
    return reply
      .code(status)
      .headers({ 'content-type': mediaType, ...answer.headers })
      .send(answer.body);
  }
  if (answer === undefined) return reply.code(status).send();
  const text = textOf(answer, mediaType);
  if (operation.file && isKnownFile(request, reply, entityTag(text))) return reply.code(304).send();
  const type = mediaType === 'text/csv' ? 'text/csv; charset=utf-8' : mediaType;
  return reply.code(status).header('content-type', type).send(text);
}
