/**
 * What runs in a thread that reads long bodies: it parses, validates and packs one after the other, and hands the results
 * over as bytes. An answer is given as soon as the body is known to be right; texts that take longer follow it.
 */
import { parentPort } from 'node:worker_threads';

import { type Operation, type ValidationEntry } from '@service/contract';

import { guarded } from '../../guard.ts';
import { refuse, type Refusal } from '../refusal.ts';
import { parsePieces, readJson } from './json.ts';
import type { Pack, Packs } from './pack.ts';
import { piecesOf } from './pieces.ts';
import { jsonScanner } from './scan.ts';

export interface LongBody {
  operation: string;
  /** An open file of this process, and how much of it is the body. */
  fd: number;
  length: number;
  /** What may be left of the body as objects. */
  mostValues: number;
}

/** `rest` is JSON, empty for no body at all. */
export type ThreadAnswer =
  | { refusal: { status: number; body: Record<string, unknown> } }
  | { entries: ValidationEntry[] }
  | { rest: Uint8Array; texts: Uint8Array[] };

/** For each body its answer, then the texts that follow it, then the end; or a failure at any time. */
export type ThreadMessage = { answer: ThreadAnswer } | { text: Uint8Array } | { end: true } | { failure: string };

interface Read {
  answer: ThreadAnswer;
  more: Iterable<Uint8Array>;
}

const only = (answer: ThreadAnswer): Read => ({ answer, more: [] });
const refused = ({ status, body }: Refusal): Read => only({ refusal: { status, body } });

function read(operation: Operation, body: LongBody, pack: Pack | undefined): Read {
  const reading = readJson(operation, parsePieces(piecesOf(body)), pack);
  if ('refusal' in reading) return refused(reading.refusal);
  if ('entries' in reading) return only(reading);
  const { rest, texts, more } = reading.value;
  const text = rest === undefined ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(rest));
  const refusal = pack ? jsonScanner(body.mostValues)(text) : undefined;
  return refusal ? refused(refusal) : { answer: { rest: text, texts }, more };
}

const textOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error));

export function readBodies(operations: Operation[], packs: Packs): void {
  const port = parentPort!;
  const known = new Map(operations.map((operation) => [operation.id, operation]));
  const post = (message: ThreadMessage, handed: Uint8Array[] = []) =>
    port.postMessage(
      message,
      handed.map((bytes) => bytes.buffer as ArrayBuffer),
    );
  const answerFor = (body: LongBody) => {
    const operation = known.get(body.operation);
    if (!operation) throw new Error(`Nobody knows the operation ${body.operation}`);
    const { answer, more } = read(operation, body, packs[body.operation]);
    post({ answer }, 'rest' in answer ? [answer.rest, ...answer.texts] : []);
    for (const text of more) post({ text }, [text]);
    post({ end: true });
  };
  port.on(
    'message',
    guarded(answerFor, (error) => post({ failure: textOf(error) })),
  );
}

/** Refusals again, on the other side. */
export const refusalOf = ({ status, body }: { status: number; body: Record<string, unknown> }) =>
  refuse(status, body['detail'] as object);
