/** Finds what a person may read by its name, and jobs by their number. */
import type { User } from '@service/contract';

import type { Database } from '../db/index.ts';
import { findByName } from './store/search.ts';

const LARGEST_ID = 2_147_483_647;
const MOST = 100;

/** `12` and `#12` are also the number of a job. */
function jobIdOf(text: string): number | null {
  const number = /^#?(\d+)$/.exec(text)?.[1];
  return number === undefined || Number(number) > LARGEST_ID ? null : Number(number);
}

export async function search(db: Database, user: User, q: string, limit: number) {
  const text = q.trim();
  return text === '' ? [] : findByName(db, user.id, text, jobIdOf(text), Math.min(limit, MOST));
}
