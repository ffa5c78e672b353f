/** `npm start -- --demo`: the demo for the administrator, and what is said about it. Never ends the service. */
import { accounts, type User } from '@service/contract';

import { beginSession, createTokens, findAdministrator } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import type { Settings } from '../settings/index.ts';
import { apiFor, DemoProblem, type ServiceAtWork } from './api.ts';
import { demoEnd, type DemoRun, makeDemo } from './make.ts';

export interface DemoStart {
  app: ServiceAtWork['app'];
  db: Database;
  settings: Settings;
  address: string;
  /** Where pages are opened, if there are any. */
  web: string | undefined;
  /** Whose demo it is, where this account exists; else another administrator's. */
  email: string;
  stopping: AbortSignal;
}

/** Somebody has to work somewhere: an administrator without a profile gets the first one there is. */
async function ensureProfile(service: ServiceAtWork, user: User): Promise<void> {
  if (user.profile_id !== null) return;
  const api = apiFor(service, user.id);
  const [first] = await api(accounts.listProfiles);
  if (!first) {
    throw new DemoProblem(
      'there is no resource to run jobs on. Create a resource with a profile (docs/operate/index.md).',
    );
  }
  await api(accounts.updateUser, { params: { user_id: user.id }, body: { profile_id: first.id } });
}

/** A workflow with its dataset chosen, which shows how its last job ended. */
const pageOf = (web: string, project: number, { dataset, job }: DemoRun) =>
  `${web}/v2/projects/${project}/workflows/${job.workflow_id}?dataset=${dataset.id}`;

function endOf({ workflow, job }: DemoRun): string {
  const why = job.failure ? `: ${job.failure.message.split('\n')[0]!}` : '';
  if (job.status === 'done') return `done (job ${job.id})`;
  return workflow.ends === 'failed' ? `failed as it should (job ${job.id})${why}` : `failed (job ${job.id})${why}`;
}

async function show(start: DemoStart): Promise<void> {
  const { app, db, settings, address, web, stopping } = start;
  const user = await findAdministrator(db, start.email);
  if (!user) throw new DemoProblem('there is no active administrator. Create one with: servicectl init-db-data.');
  const tokens = createTokens(settings.app.JWT_SECRET_KEY ?? '');
  const token = (userId: number, seconds: number) => beginSession(db, tokens, userId, seconds);
  const service = { app, token };
  await ensureProfile(service, user);
  const say = (line: string) => console.log(line);
  const parts = { ...service, user, dataDir: settings.start.SERVICE_DATA_DIR, say, stopping };
  const demo = await makeDemo(parts);
  if (demo.runs.some(({ job }) => job.status === 'submitted')) say('Demo: running its workflows');
  const runs = await demoEnd(parts, demo);
  const widest = Math.max(...runs.map(({ workflow }) => workflow.name.length));
  const lines = [
    `The demo is in the project "${demo.project.name}" of ${user.email}. Sign in at ${web ?? address}`,
    ...(web === undefined ? [] : [`  ${'Open'.padEnd(widest)}   ${pageOf(web, demo.project.id, runs[0]!)}`]),
    ...runs.map((run) => `  ${run.workflow.name.padEnd(widest)}   ${endOf(run)}`),
    `  ${'Files'.padEnd(widest)}   ${runs[0]!.dataset.zarr_dir}`,
  ];
  say(lines.join('\n'));
}

const oneLine = (text: string) => text.trim().replace(/\s*\n\s*/g, ' ');

export async function showDemo(start: DemoStart): Promise<void> {
  try {
    await show(start);
  } catch (error) {
    if (start.stopping.aborted) {
      console.log('The demo is not finished. Start with --demo again to continue it.');
      return;
    }
    const reason = oneLine((error as Error).message).replace(/\.?$/, '.');
    console.error(`The demo could not be made: ${reason} Start with --demo again to continue it.`);
  }
}
