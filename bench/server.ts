/**
 * The servers that benchmarks ask: the service, and bare routes on the same pool in the same process: one with one SELECT, one
 * that gives a token to anybody, and those that have learnt from a request what statement it ends with, run that one, named, and
 * send the same bytes.
 */
import { fastify } from 'fastify';
import { join } from 'node:path';

import {
  createAdministrator,
  createResourceAndProfile,
  createTokens,
  defaultProfile,
  defaultResource,
  ensureDefaultGroup,
  findPython,
} from '../packages/server/src/accounts/index.ts';
import { operator } from '../packages/server/src/audit/index.ts';
import { migrate } from '../packages/server/src/db/index.ts';
import { listenOn } from '../packages/server/src/http/index.ts';
import { createService } from '../packages/server/src/service.ts';
import { loadSettings, loggingFor, openWorkplace } from '../packages/server/src/workplace.ts';
import { ownStatements } from '../packages/server/test/support/statements.ts';

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

const tokens = createTokens(workplace.settings.app.JWT_SECRET_KEY ?? '');
bare.get<{ Params: { id: string } }>('/token/:id', ({ params }) =>
  tokens.issue(Number(params.id), 3600, { generation: 0 }),
);

const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/** Every text of `whole` is in `source`, as it is or inside a JSON text. */
function requireSource(whole: unknown, source: unknown, what: string): void {
  const known = JSON.stringify(source);
  const missing = textsIn(whole).find((text) => !known.includes(JSON.stringify(text).slice(1, -1)));
  if (missing !== undefined) throw new Error(`${what}: nothing is known of "${missing}" in ${known.slice(0, 1000)}`);
}

interface Request {
  method: 'GET';
  url: string;
  payload?: object;
}

/** The statement that a request ends with, which gives what is answered, or takes what was sent where that is nothing. */
async function learn(request: Request, token: string) {
  const answers: { body: string; statusCode: number }[] = [];
  const seen = await ownStatements(async () => {
    answers.push(await service.inject({ ...request, headers: { authorization: `Bearer ${token}` } }));
  });
  const { body, statusCode } = answers[0]!;
  if (statusCode >= 300) throw new Error(`${request.url}: ${statusCode} ${body}`);
  const statements = seen.filter(({ values }) => values.length > 0);
  const { text, values: given, rows } = statements.at(-1)!;
  const values = given.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString() : value));
  const what = `${request.url} ends with ${text}`;
  if (body === '') requireSource(request.payload, values, what);
  else requireSource(JSON.parse(body), rows, what);
  return { text, values, body, statements: statements.length };
}

const learnt = new Map<string, Awaited<ReturnType<typeof learn>>>();
bare.post<{ Params: { name: string }; Body: Request & { token: string } }>(
  '/learn/:name',
  async ({ params, body: { token, ...request } }) => {
    const { body, ...statement } = await learn(request, token);
    learnt.set(params.name, { body, ...statement });
    return statement;
  },
);
bare.post<{ Params: { name: string }; Body: { values?: unknown[] } }>('/run/:name', async ({ params, body }, reply) => {
  const { text, values, body: sent } = learnt.get(params.name)!;
  await workplace.pool.query({ name: params.name, text, values: body.values ?? values });
  return reply.header('content-type', 'application/json').send(sent);
});
bare.get<{ Params: { name: string } }>('/run/:name', async ({ params }, reply) => {
  const { text, values, body } = learnt.get(params.name)!;
  await workplace.pool.query({ name: params.name, text, values });
  return reply.header('content-type', 'application/json').send(body);
});

const [serviceUrl, bareUrl] = await Promise.all([service, bare].map((app) => listenOn(app, '127.0.0.1', 0)));
const { host, port, user, password, database } = workplace.pool.options;
console.log(JSON.stringify({ serviceUrl, bareUrl, connection: { host, port, user, password, database } }));
// with the benchmark, however that ends: what it writes to may be closed
process.stdin.resume().once('close', () => {
  void Promise.all([service.close(), bare.close()])
    .then(() => workplace.close())
    .then(() => process.exit(0));
});
