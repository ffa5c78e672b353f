/**
 * What runs in a thread that reads long bodies: it parses, validates and packs one after the other, and hands the results
 * over as bytes.
 */
import { parentPort } from 'node:worker_threads';

import { type Operation, type ValidationEntry } from '@service/contract';

import { guarded } from '../../guard.ts';
import { refuse } from '../refusal.ts';
import { parsePieces, readJson } from './json.ts';
import type { Pack, Packs } from './pack.ts';
import { piecesOf } from './pieces.ts';
import { jsonScanner } from './scan.ts';

export interface Task {
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
  | { rest: Uint8Array; texts: Uint8Array[] }
  | { failure: string };

function read(operation: Operation, task: Task, pack: Pack | undefined): ThreadAnswer {
  const reading = readJson(operation, parsePieces(piecesOf(task), task.length), pack);
  if ('refusal' in reading) return { refusal: { status: reading.refusal.status, body: reading.refusal.body } };
  if ('entries' in reading) return reading;
  const { rest, texts } = reading.value;
  const text = rest === undefined ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(rest));
  const refusal = pack ? jsonScanner(task.mostValues)(text) : undefined;
  return refusal ? { refusal: { status: refusal.status, body: refusal.body } } : { rest: text, texts };
}

const textOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error));

export function readBodies(operations: Operation[], packs: Packs): void {
  const port = parentPort!;
  const known = new Map(operations.map((operation) => [operation.id, operation]));
  const answerTask = (task: Task) => {
    const operation = known.get(task.operation);
    const answer: ThreadAnswer = operation
      ? read(operation, task, packs[task.operation])
      : { failure: `Nobody knows the operation ${task.operation}` };
    const handed = 'rest' in answer ? [answer.rest, ...answer.texts] : [];
    port.postMessage(
      answer,
      handed.map((bytes) => bytes.buffer as ArrayBuffer),
    );
  };
  port.on(
    'message',
    guarded(answerTask, (error) => port.postMessage({ failure: textOf(error) } satisfies ThreadAnswer)),
  );
}

/** Refusals again, on the other side. */
export const refusalOf = ({ status, body }: { status: number; body: Record<string, unknown> }) =>
  refuse(status, body['detail'] as object);
