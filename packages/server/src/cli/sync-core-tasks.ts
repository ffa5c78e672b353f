/** `servicectl sync-core-tasks`: which tasks are core tasks, from files. */
import { z } from 'zod';

import { knownGroupIds, knownResourceIds } from '../accounts/index.ts';
import { operator } from '../audit/index.ts';
import { createMailer } from '../mail/index.ts';
import { CoreTaskConflict, countCoreTasks, syncCoreTasks as sync } from '../tasks/index.ts';
import type { Workplace } from '../workplace.ts';
import { CommandFailed, readJsonFile, withWorkplace } from './tools.ts';

interface Options {
  resourcesAndGroups: string;
  base?: string;
  add?: string;
  remove?: string;
}

const Pairs = z.array(z.object({ resource_id: z.int(), user_group_id: z.int() }));
const name = z.string().trim().min(1);
const Triples = z.array(z.tuple([name, name, name]));

function readFile<T>(path: string, schema: z.ZodType<T>): T {
  const read = schema.safeParse(readJsonFile(path));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new CommandFailed(`${path} is not valid at ${issue!.path.join('.') || 'its top level'}: ${issue!.message}`);
}

/** (base ∪ add) − remove, each task once. */
function wantedTasks({ base, add, remove }: Options): z.output<typeof Triples> {
  const read = (path: string | undefined) => (path === undefined ? [] : readFile(path, Triples));
  const removed = new Set(read(remove).map((triple) => JSON.stringify(triple)));
  const wanted = new Map([...read(base), ...read(add)].map((triple) => [JSON.stringify(triple), triple]));
  return [...wanted].filter(([key]) => !removed.has(key)).map(([, triple]) => triple);
}

async function checkPairs({ db }: Workplace, pairs: z.output<typeof Pairs>): Promise<void> {
  const check = async (
    what: string,
    ids: number[],
    known: (db: Workplace['db'], ids: number[]) => Promise<number[]>,
  ) => {
    const found = new Set(ids.length === 0 ? [] : await known(db, ids));
    const missing = ids.find((id) => !found.has(id));
    if (missing !== undefined) throw new CommandFailed(`There is no ${what} ${missing}.`);
  };
  await check(
    'resource',
    pairs.map((pair) => pair.resource_id),
    knownResourceIds,
  );
  await check(
    'user group',
    pairs.map((pair) => pair.user_group_id),
    knownGroupIds,
  );
}

export async function syncCoreTasks(options: Options): Promise<void> {
  const pairs = readFile(options.resourcesAndGroups, Pairs);
  const wanted = wantedTasks(options);
  await withWorkplace(async (workplace, logging) => {
    const mailer = createMailer(workplace.settings.mail, logging.logger('mail'));
    console.log(`Core tasks before: ${await countCoreTasks(workplace.db)}`);
    try {
      await checkPairs(workplace, pairs);
      await sync(workplace.db, operator('servicectl'), pairs, wanted);
    } catch (error) {
      await mailer('Failed synchronisation of core tasks', (error as Error).message);
      throw error instanceof CoreTaskConflict ? new CommandFailed(error.message, { cause: error }) : error;
    } finally {
      console.log(`Core tasks now: ${await countCoreTasks(workplace.db)} (${wanted.length} wanted)`);
    }
  });
}
