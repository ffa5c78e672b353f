/** The program of a thread that reads long bodies (http/bodies). */
import { accounts, jobs, type Operation, projects, tasks } from '@service/contract';

import { readBodies } from './http/bodies/thread.ts';
import { PACKS } from './packs.ts';

/** Those of external sign-in are made when its provider is known; they have no bodies. */
const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'id' in value;

const operations = [accounts, jobs, projects, tasks].flatMap((part): unknown[] => Object.values(part));
readBodies(operations.filter(isOperation), PACKS);
