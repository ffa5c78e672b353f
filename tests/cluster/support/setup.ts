/**
 * Starts the cluster once for all its tests, and throws it away after them. One run at a time has it: accounts, ports and
 * Slurm's configuration are those of the machine.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';

import { script, scriptPath } from './commands.ts';

const PACKAGES = join(import.meta.dirname, '../../../scripts/system-packages.sh');
const WITHOUT_ROOT =
  'The tests of the cluster need root, and this is an ordinary account: they start a real Slurm, sshd and accounts of their ' +
  'own. Run them as root on a machine or in a container that is there for tests: sudo npm test -- --project cluster';

/** Waits for its turn, which ends with this process, however that ends. */
function takeTurn(): Promise<ChildProcess> {
  const holder = spawn('bash', [scriptPath('cluster'), 'take-turn'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const patience = setTimeout(() => console.log('Another run uses the test cluster; waiting for its end.'), 2000);
  return new Promise((resolve, reject) => {
    holder.once('error', reject);
    holder.once('exit', () => reject(new Error('The lock of the test cluster cannot be taken')));
    holder.stdout.once('data', () => {
      clearTimeout(patience);
      resolve(holder);
    });
  });
}

/** With CLUSTER_IS_UP=1 the cluster is one that somebody started (`cluster.sh up`) to run tests again and again. */
export default async function setup(): Promise<() => Promise<void>> {
  if (process.env['CLUSTER_IS_UP']) return () => Promise.resolve();
  if (process.getuid?.() !== 0) throw new Error(WITHOUT_ROOT);
  execFileSync('bash', [PACKAGES], { stdio: 'inherit' });
  const turn = await takeTurn();
  process.env['CLUSTER_TURN'] = '1';
  const end = () => turn.stdin!.end();
  await script('cluster', 'up').catch((error: unknown) => {
    end();
    throw error;
  });
  return async () => void (await script('cluster', 'down').finally(end));
}
