/** The servers that benchmarks ask: the service, and a bare route with one SELECT, on one pool in one process. */
import { fastify } from 'fastify';
import { join } from 'node:path';

import {
  createAdministrator,
  createResourceAndProfile,
  defaultProfile,
  defaultResource,
  ensureDefaultGroup,
  findPython,
} from '../packages/server/src/accounts/index.ts';
import { operator } from '../packages/server/src/audit/index.ts';
import { migrate } from '../packages/server/src/db/index.ts';
import { createService } from '../packages/server/src/service.ts';
import { loadSettings, loggingFor, openWorkplace } from '../packages/server/src/workplace.ts';

const settings = loadSettings({ SERVICE_DATA_DIR: process.argv[2]!, SERVICE_LOGGING_LEVEL: '30' });
const workplace = await openWorkplace(settings, loggingFor(settings));
await migrate(workplace.db);
const by = operator('start');
await ensureDefaultGroup(workplace.db, by, 'All');
await createAdministrator(
  workplace.db,
  by,
  { email: 'admin@example.org', password: 'password', projectDir: '/p' },
  'All',
);
const folders = { jobs: join(process.argv[2]!, 'jobs'), tasks: join(process.argv[2]!, 'tasks') };
await createResourceAndProfile(workplace.db, by, defaultResource(folders, findPython()!), defaultProfile);

const service = await createService({
  settings: workplace.settings,
  database: workplace,
  logging: loggingFor(settings),
});
const bare = fastify();
bare.get('/', async () => {
  const { rows } = await workplace.pool.query<object>({
    name: 'bare',
    text: 'select * from users where id = $1',
    values: [1],
  });
  return rows[0];
});

const [serviceUrl, bareUrl] = await Promise.all(
  [service, bare].map((app) => app.listen({ host: '127.0.0.1', port: 0 })),
);
const { host, port, user, password, database } = workplace.pool.options;
console.log(JSON.stringify({ serviceUrl, bareUrl, connection: { host, port, user, password, database } }));
process.on('SIGTERM', () => {
  void Promise.all([service.close(), bare.close()])
    .then(() => workplace.close())
    .then(() => process.exit(0));
});
