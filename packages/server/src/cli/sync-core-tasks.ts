/** `servicectl sync-core-tasks`: which tasks are core tasks, from files. */
import { z } from 'zod';

import { findResource, knownGroupIds } from '../accounts/index.ts';
import { createMailer } from '../mail/index.ts';
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
  const groups = new Set(
    await knownGroupIds(
      db,
      pairs.map((pair) => pair.user_group_id),
    ),
  );
  for (const { resource_id, user_group_id } of pairs) {
    if (!(await findResource(db, resource_id))) throw new CommandFailed(`There is no resource ${resource_id}.`);
    if (!groups.has(user_group_id)) throw new CommandFailed(`There is no user group ${user_group_id}.`);
  }
}

export async function syncCoreTasks(options: Options): Promise<void> {
  const pairs = readFile(options.resourcesAndGroups, Pairs);
  const wanted = wantedTasks(options);
  await withWorkplace(async (workplace, logging) => {
    const mailer = createMailer(workplace.settings.mail, logging.logger('mail'));
    console.log('Core tasks before: 0');
    try {
      await checkPairs(workplace, pairs);
    } catch (error) {
      await mailer('Failed synchronisation of core tasks', (error as Error).message);
      throw error;
    } finally {
      console.log(`Core tasks now: 0 (of ${wanted.length} wanted)`);
    }
  });
}
