/**
 * Tasks that attack the service through what it reads of them, and what has to hold beside them.
 *
 * An attack is Python that runs inside a unit (scripted_task.py, `python`). It finds the journal of its worker, on this
 * machine or in a job of the scheduler, and does with it what the account may do.
 */
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import { until } from '../../packages/server/test/support/lab.ts';
import { submitParallel } from './faults.ts';
import type { Deployment } from './deployment.ts';

/** `journal` and `log` are paths; `number` is the unit, `journals` are those of all packs. */
const PRELUDE = `
import glob, json, os, sys, time
def words_of(pid):
    with open('/proc/%d/cmdline' % pid, 'rb') as file:
        return file.read().decode().split('\\0')[:-1]
words = words_of(os.getppid())
if '--pack' in words:
    inputs, outputs, turn, pack = words[words.index('--pack') + 1:][:4]
    journal = '%s/r%d-%06d.jsonl' % (outputs, int(turn), int(pack))
    separators = glob.glob(inputs + '/separator*') + glob.glob(os.path.dirname(inputs) + '/*/separator*')
else:
    journal, separators = words[-1] + '/journal.jsonl', []
log = os.readlink('/proc/self/fd/1')
def write(*lines):
    with open(journal, 'ab') as file:
        for line in lines:
            file.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b'\\n')
def end(number, **more):
    return {'end': number, 'time': time.time(), 'exit_code': 0, 'signal': None, 'cpu_seconds': 0, 'peak_memory_bytes': 1, 'out_of_memory': False,
            'num_warnings': 0, 'log_bytes': 0, 'output': None, 'output_bytes': 0, 'problem': None, 'stopped': False, 'lost': False,
            'tail': '', **more}
`;

const ATTACKS = {
  /** Records that nobody should believe. */
  forged: `
write(b'\\xff\\xfe\\x00\\n', b'[]\\n', b'null\\n', b'{"end": NaN}\\n', b'{"__proto__": {"end": 0}}\\n')
write({'end': 'constructor'}, {'end': -1}, {'end': 10**9}, {'start': 10**9, 'time': 1}, {'start': [], 'time': {}})
write(end(10**6), end(0, time=10**30), end(0, output={'a': 1}), end(0, node='\\0', exit_code=10**20))
write({'worker': 1, 'started': '1', 'time': 1, 'boot': '', 'host': 'a\\0b', 'scheduler_job_id': -5, 'array_job': '1,2;3'})
write({'worker': 1, 'started': '1', 'time': 1, 'boot': '', 'host': 'n1', 'scheduler_job_id': 99999999, 'array_job': 99999999})
write({'worker': -1, 'started': None, 'boot': 5, 'host': {}}, {'slots': -7}, {'slots': 'many'})
`,
  /** A line without an end. */
  endless: `
with open(journal, 'ab') as file:
    for _ in range(160):
        file.write(b'{"end": 0, ' * 100000)
time.sleep(1)
`,
  /** Ten gigabytes of nothing, in the journal. */
  sparse: `os.truncate(journal, 10 * 2**30); time.sleep(1)`,
  /** Lines without number. */
  flood: `
for _ in range(100):
    write(b'{"end": 0}\\n' * 10000)
time.sleep(1)
`,
  /** A log that claims to be ten gigabytes, with all separators that can be found in it. */
  log: `
for path in separators:
    sys.stdout.write(open(path).read() * 200)
sys.stdout.flush()
os.ftruncate(1, 10 * 2**30)
`,
  /** A log of real gigabytes would take long; this one is a device. */
  device: `os.unlink(log); os.symlink('/dev/zero', log); os.symlink('/dev/zero', given['--out-json'])`,
  /** What never answers. */
  pipe: `
os.unlink(journal)
os.mkfifo(journal)
for path in (log, given['--out-json']):
    if os.path.exists(path):
        os.unlink(path)
    os.mkfifo(path)
`,
  /** An output that is deep, and as large as it may be. */
  deep: `open(given['--out-json'], 'w').write('[' * (15 * 2**20))`,
} as const;

type Attack = keyof typeof ATTACKS;
export const attacks = Object.keys(ATTACKS) as Attack[];

export const attackStep = (attack: Attack) => ({ python: PRELUDE + ATTACKS[attack], sleep: 0.5 });

/** The settings of a service, of this checkout, that writes to a file how much memory it has held at most. */
export function watchingMemory(checkout: string, file: string) {
  writeFileSync(file, '');
  // the service may have another account
  chmodSync(file, 0o666);
  return { NODE_OPTIONS: `--import=${join(checkout, 'tests/support/held-memory.mjs')}`, HELD_MEMORY: file };
}

/** The most memory that the service has had, in megabytes, with what waits to be collected. */
function peakMemory(deployment: Deployment): number {
  const parents = new Map<number, number>();
  const statusOf = (pid: number) => readFileSync(`/proc/${pid}/status`, 'utf8');
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      parents.set(Number(name), Number(/^PPid:\s*(\d+)/m.exec(statusOf(Number(name)))![1]));
    } catch {
      // it has ended meanwhile
    }
  }
  // who starts the service may wait for it; what the service starts is not node
  const family = new Set([deployment.server().process.pid!]);
  for (let size = 0; size !== family.size;) {
    size = family.size;
    for (const [pid, parent] of parents) if (family.has(parent)) family.add(pid);
  }
  const peaks = [...family].flatMap((pid) => {
    try {
      const text = statusOf(pid);
      return /^Name:\s*(node|MainThread)/m.test(text) ? [Number(/^VmHWM:\s*(\d+)/m.exec(text)![1]) / 1024] : [];
    } catch {
      return [];
    }
  });
  return Math.max(...peaks);
}

/** Runs hostile jobs, and honest ones that begin before and end after them. */
export async function besideHostileJobs(
  deployment: Deployment,
  chosen: readonly Attack[],
  options: { meta_parallel?: Record<string, number>; seconds: number; gate: string; open: () => void },
): Promise<{
  honest: { status: string; log: string | null }[];
  hostile: Record<string, { status: string; log: string | null }>;
}> {
  const { meta_parallel = {}, seconds, gate, open } = options;
  const plan = { '*': { print: 'honest work', wait_for: gate, output: { image_list_updates: [] } } };
  const honest = [await submitParallel(deployment, ['one', 'two', 'three'], { meta_parallel, plan })];
  const hostile = new Map<string, number>();
  for (const attack of chosen) {
    const urls = [`${attack}-1`, `${attack}-2`];
    const step = attackStep(attack);
    const { id } = await submitParallel(deployment, urls, {
      meta_parallel,
      plan: { [deployment.lab.urlOf(urls[0]!)]: step, '*': {} },
    });
    hostile.set(attack, id);
  }
  const ends: Record<string, { status: string; log: string | null }> = {};
  for (const [attack, id] of hostile) {
    const job = await deployment.lab.end(id, seconds).catch(async (error: unknown) => {
      throw new Error(`${attack}: ${(error as Error).message}\n${deployment.output().slice(-4000)}`);
    });
    ends[attack] = { status: job.status, log: job.log };
  }
  open();
  honest.push(
    await submitParallel(deployment, ['after'], { meta_parallel, plan: { '*': { print: 'after all of it' } } }),
  );
  const jobs = await Promise.all(honest.map(({ id }) => deployment.lab.end(id, seconds)));
  return { honest: jobs.map(({ status, log }) => ({ status, log })), hostile: ends };
}

/** The service, which watches its memory, answers, is the one that was started, and has not taken much memory. */
export async function expectUnharmed(deployment: Deployment, pid: number): Promise<void> {
  expect(deployment.server().process.pid).toBe(pid);
  const answer = await until('an answer', () => fetch(`${deployment.url}/api/alive/`), 5);
  expect(answer.status).toBe(200);
  expect(deployment.output()).not.toContain('that nobody caught');
  const held = Number(readFileSync(deployment.environment['HELD_MEMORY']!, 'utf8'));
  expect(held).toBeGreaterThan(0);
  expect(held).toBeLessThan(250);
  expect(peakMemory(deployment)).toBeLessThan(400);
}
