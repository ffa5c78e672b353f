/** The program of a thread that reads long bodies (http/bodies). */
import { accounts, jobs, projects, tasks } from '@service/contract';

import { readBodies } from './http/bodies/thread.ts';
import { PACKS } from './packs.ts';

readBodies(
  [accounts, jobs, projects, tasks].flatMap((part) => Object.values(part)),
  PACKS,
);
