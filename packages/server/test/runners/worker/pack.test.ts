/** What one job of a scheduler runs: `worker.pyz --pack`. The scheduler's part is played by environment and signals. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';

import { until } from '../../support/until.ts';
import {
  bash,
  cleanUp,
  interpreters,
  isAlive,
  makePacks,
  makeScript,
  newFolder,
  running,
  several,
  unscheduled,
  workerFile,
  type PackOptions,
  type Packs,
  turnsOf,
} from '../batch.ts';

afterAll(cleanUp);

const kinds = (records: object[]) => records.map((record) => Object.keys(record)[0]);
const numbers = (records: { start?: number }[]) => records.flatMap(({ start }) => (start === undefined ? [] : [start]));
const isRoot = process.getuid?.() === 0;
const cpusHere = Number(execFileSync('nproc').toString());
const MEGABYTE = 2 ** 20;

describe.concurrent.each(interpreters().map((python) => ({ python })))('a pack with $python', ({ python }) => {
  const turn = turnsOf(python, 1);
  const packsOf = (options: PackOptions) => makePacks({ python, ...options });
  /** Runs functions of the worker itself. */
  const inWorker = async (code: string) => {
    const { stdout } = await promisify(execFile)(python, [
      '-I',
      '-S',
      '-B',
      '-c',
      `import sys\nsys.path.insert(0, ${JSON.stringify(workerFile())})\n${code}`,
    ]);
    return stdout;
  };

  turn.it('has its units of the round, and tells everything in one journal', async () => {
    const command = bash('echo "hello $2"; cat "$2" > "$4"; pwd');
    const packs = packsOf({ command, packs: [['0', '1'], ['2', '3'], ['4']], memory: 5000 * MEGABYTE });
    const slurm = { SLURM_JOB_ID: 12, SLURM_ARRAY_JOB_ID: 10, SLURMD_NODENAME: 'n7' };
    const { records, ends, stderr } = await packs.run({ pack: 1, slurm });
    expect(kinds(records).toSorted()).toEqual(
      ['worker', 'slots', 'start', 'running', 'end', 'start', 'running', 'end', 'finished'].toSorted(),
    );
    expect(records[0]).toEqual({
      worker: expect.any(Number),
      started: expect.stringMatching(/^\d+$/),
      boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      time: expect.any(Number),
      host: 'n7',
      scheduler_job_id: 12,
      array_job: 10,
      restart: 0,
    });
    expect(records[1]).toEqual({ slots: 2 });
    expect(ends).toMatchObject(
      [2, 3].map((n) => ({
        end: n,
        exit_code: 0,
        output: String(n),
        log: packs.log(n),
        log_bytes: Buffer.byteLength(packs.log(n)),
        memory_limit_bytes: 5000 * MEGABYTE,
        stopped: false,
      })),
    );
    expect(ends[0]!.log).toContain(`\n${packs.folder}\n`);
    expect(records.at(-1)).toEqual({ finished: true, stopped: false, out: '', err: '' });
    expect(stderr).toBe('');
    const claim = JSON.parse(readFileSync(packs.claimPath(1), 'utf8')) as object;
    const { worker, started, boot } = records[0]!;
    expect(claim).toEqual({ scheduler_job_id: 12, array_job: 10, restart: 0, host: 'n7', pid: worker, started, boot });
    expect(readdirSync(packs.outputs).toSorted()).toEqual(['r3-000001.claim', 'r3-000001.jsonl']);
  });

  turn.it('needs no scheduler', async () => {
    const { records } = await packsOf({ command: ['true'] }).run();
    expect(records[0]).toMatchObject({ scheduler_job_id: null, array_job: null, restart: 0 });
    expect(records.at(-1)).toMatchObject({ finished: true });
  });

  turn.it(
    'runs as many units at a time as it has slots, warm ones too, and gives each its number of CPUs',
    async () => {
      const script = makeScript('import os, time\nprint(os.environ["SLURM_CPUS_PER_TASK"])\ntime.sleep(0.2)\n');
      const options = { packs: [several(7)], parallel: 3, cpus: 4, warm: true };
      const packs = packsOf({ command: [python, script], ...options });
      const { records, ends, stderr } = await packs.run({ slurm: { SLURM_CPUS_PER_TASK: 12 } });
      expect(ends.map((end) => end.log)).toEqual(several(7, '4\n'));
      let [now, most] = [0, 0];
      for (const record of records) {
        if ('start' in record) most = Math.max(most, (now += 1));
        if ('end' in record) now -= 1;
      }
      expect([now, most]).toEqual([0, 3]);
      expect(stderr).toBe('');
      // what the imports printed is of no use any more
      expect(readdirSync(packs.outputs).toSorted()).toEqual(['r3-000000.claim', 'r3-000000.jsonl']);
    },
  );

  describe('carries the log of a unit', () => {
    it.each(
      turn.of([
        ['as text', `printf 'é\\n'`, 100, { log: 'é\n', log_bytes: 3 }],
        ['that is empty', 'true', 100, { log: '', log_bytes: 0 }],
        ['that is just not too long', 'printf 12345', 5, { log: '12345', log_bytes: 5 }],
        ['in base64 when it is not UTF-8', `printf 'a\\xff'`, 100, { log64: 'Yf8=', log_bytes: 2 }],
        ['with NUL', `printf 'a\\0b'`, 100, { log: 'a\0b' }],
        ['of a failure, and its end', 'printf no; exit 3', 100, { log: 'no', tail: 'no', exit_code: 3 }],
      ]),
    )('%s', async (_, script, largest_log, expected) => {
      const { ends } = await packsOf({ command: bash(script), largest_log }).run();
      expect(ends[0]).toMatchObject(expected);
      expect('log' in ends[0]! && 'log64' in ends[0]).toBe(false);
    });

    turn.it('not when it is too long, but says how long', async () => {
      const { ends } = await packsOf({ command: bash('printf "Warning 6"'), largest_log: 8 }).run();
      expect(ends[0]).toMatchObject({ log_bytes: 9, num_warnings: 1 });
      expect(Object.keys(ends[0]!)).not.toContain('log');
      expect(Object.keys(ends[0]!)).not.toContain('log64');
    });
  });

  turn.it('tells in the end what the files behind its own streams hold, of a long one the last 256 kB', async () => {
    const packs = packsOf({ command: ['true'] });
    const root = dirname(packs.outputs);
    writeFileSync(join(root, 'slurm-0.out'), 'Host: n1\n');
    writeFileSync(join(root, 'slurm-0.err'), `a${'é'.repeat(200_000)}`);
    const last = (await packs.run()).records.at(-1)!;
    expect(last.out).toBe('Host: n1\n');
    expect(last.err).toBe('é'.repeat(128 * 1024));
  });

  turn.it('on several nodes is shared out between their workers', async () => {
    const packs = packsOf({ command: bash('cat "$2" > "$4"'), packs: [['x'], ['a', 'b', 'c', 'd', 'e']] });
    const nodes = [0, 1, 2].map((node) =>
      packs.run({ pack: 1, nodes: true, slurm: { SLURM_PROCID: node, SLURM_NTASKS: 3 } }),
    );
    await Promise.all(nodes);
    const outputs = [0, 1, 2].map((node) => packs.ends(1, node).map((end) => [end.end, end.output]));
    expect(outputs).toEqual([
      [
        [1, 'a'],
        [4, 'd'],
      ],
      [
        [2, 'b'],
        [5, 'e'],
      ],
      [[3, 'c']],
    ]);
    expect(existsSync(packs.claimPath(1, 2))).toBe(true);
    expect(existsSync(packs.journalPath(1))).toBe(false);
  });

  describe('is stopped by the signal that a scheduler sends to all processes of a job', () => {
    const sleepers = (warm: boolean, before = '') => {
      const script = makeScript(`import os, signal, time\n${before}\nprint('here', flush=True)\ntime.sleep(60)\n`);
      return packsOf({ command: [python, script], packs: [several(4)], warm, grace: 1 });
    };
    const allRunning = (packs: Packs, n: number) =>
      until(
        () =>
          running(packs).length === n &&
          [0, 1].slice(0, n).every((one) => packs.log(one).endsWith('\n')) &&
          running(packs),
      );
    const childrenOf = (pid: number) =>
      readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    const tellToEnd = (pid: number) => {
      try {
        process.kill(pid, 'SIGTERM');
      } catch (error) {
        // the worker may have been quicker
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    };
    /** Everything below a process. */
    const below = (pid: number): number[] => childrenOf(pid).flatMap((child) => [child, ...below(child)]);

    it.each(
      turn.of([
        ['plain units, which hear it first', false, true],
        ['plain units, which hear it last', false, false],
        ['warm units, which hear it first', true, true],
        ['warm units, which hear it last', true, false],
      ]),
    )('%s', async (_, warm, unitsFirst) => {
      const packs = sleepers(warm);
      const { process: worker, done } = packs.start();
      const units = await allRunning(packs, 2);
      const all = below(worker.pid!);
      expect(all).toHaveLength(warm ? 3 : 2);
      for (const pid of unitsFirst ? [...all, worker.pid!] : [worker.pid!, ...all]) tellToEnd(pid);
      expect(await done).toEqual({ code: 0, stderr: '' });
      expect(units.filter(({ pid }) => isAlive(pid))).toEqual([]);
      // two that end at the same time are told in any order
      expect(packs.ends().toSorted((one, other) => Number(one.end) - Number(other.end))).toMatchObject([
        { end: 0, stopped: true, signal: 15, lost: false, log: 'here\n' },
        { end: 1, stopped: true, signal: 15, lost: false, log: 'here\n' },
      ]);
      expect(numbers(packs.records())).toEqual([0, 1]);
      expect(packs.records().at(-1)).toEqual({ finished: true, stopped: true, out: '', err: '' });
    });

    turn.it('by the process group, as a shell hands it on', async () => {
      const packs = sleepers(false);
      const { process: worker, done } = packs.start();
      await allRunning(packs, 2);
      process.kill(-worker.pid!, 'SIGTERM');
      expect((await done).code).toBe(0);
      expect(packs.ends().map((end) => [end.stopped, end.signal])).toEqual([
        [true, 15],
        [true, 15],
      ]);
    });

    turn.it('and is over soon after its grace, whatever its units do', async () => {
      const packs = sleepers(false, 'signal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.fork()');
      const { process: worker, done } = packs.start();
      await allRunning(packs, 2);
      const all = below(worker.pid!);
      const before = Date.now();
      worker.kill('SIGTERM');
      // somebody else who begins now, on a machine that may have much to do
      const other = inWorker('import time\ntime.sleep(2.5)\nprint(time.time() * 1000)');
      await done;
      // the last words, whenever this process comes to see them
      const last = statSync(packs.journalPath()).mtimeMs;
      expect(last - before).toBeGreaterThan(950);
      expect(last).toBeLessThan(Number(await other));
      expect(all.filter(isAlive)).toEqual([]);
      expect(packs.ends()).toMatchObject([
        { stopped: true, signal: 9, out_of_memory: false },
        { stopped: true, signal: 9, out_of_memory: false },
      ]);
      expect(packs.records().at(-1)).toMatchObject({ finished: true, stopped: true });
    });

    turn.it('but a unit that alone was ended so is a failure of its own', async () => {
      const { ends, records } = await packsOf({ command: bash('kill -TERM $$'), packs: [several(2)] }).run();
      expect(ends.map((end) => [end.stopped, end.signal])).toEqual([
        [false, 15],
        [false, 15],
      ]);
      expect(records.at(-1)).toMatchObject({ finished: true, stopped: false });
    });

    turn.it('while it imports', async () => {
      const script = makeScript('import slow\n', { slow: 'import time\ntime.sleep(60)\n' });
      const packs = packsOf({ command: [python, script], packs: [several(2)], warm: true, grace: 1 });
      const { process: worker, done } = packs.start();
      const [warm] = await until(
        () => existsSync(packs.journalPath()) && childrenOf(worker.pid!).length === 1 && childrenOf(worker.pid!),
      );
      worker.kill('SIGTERM');
      await done;
      expect(isAlive(warm!)).toBe(false);
      expect(kinds(packs.records())).toEqual(['worker', 'slots', 'importing', 'stopping', 'finished']);
    });
  });

  describe('shares the memory of a job', () => {
    /** Holds so many megabytes, in a child if it shall, until a file appears. */
    const HOLD = `import json, os, sys, time
megabytes, child, flag = json.load(open(sys.argv[2]))
if child and os.fork(): os.wait(); sys.exit(0)
if child: os.setsid()
held = b'x' * (megabytes * 2 ** 20)
print('holds', flush=True)
while not os.path.exists(flag): time.sleep(0.02)
`;
    it.each(
      turn.of([
        ['plain', false, false],
        ['warm', true, false],
        ['that holds it in another process', false, true],
      ]),
    )('and a unit that takes too much of it is killed for that, its neighbours are not: %s', async (_, warm, child) => {
      const flag = join(newFolder(), 'flag');
      const args = [20, 190, 20].map((size) => JSON.stringify([size, child, flag]));
      const command = [python, makeScript(HOLD)];
      const packs = packsOf({ command, packs: [args], parallel: 3, memory: 80 * MEGABYTE, warm });
      const { done } = packs.start();
      await until(() => packs.ends().length > 0);
      expect(packs.ends()).toMatchObject([
        { end: 1, out_of_memory: true, signal: 9, memory_limit_bytes: 80 * MEGABYTE },
      ]);
      writeFileSync(flag, '');
      await done;
      expect(packs.ends().map((end) => [end.exit_code, end.out_of_memory])).toEqual([
        [0, false],
        [null, true],
        [0, false],
      ]);
    });

    turn.it('and may take what the others leave', async () => {
      const flag = join(newFolder(), 'flag');
      const args = [10, 120].map((size) => JSON.stringify([size, false, flag]));
      const command = [python, makeScript(HOLD)];
      const packs = packsOf({ command, packs: [args], parallel: 2, memory: 100 * MEGABYTE });
      const { done, process: worker } = packs.start();
      await until(() => packs.ends().length === 0 && [0, 1].every((n) => running(packs).length === 2 && packs.log(n)));
      const looks = () =>
        Number(/voluntary_ctxt_switches:\s(\d+)/.exec(readFileSync(`/proc/${worker.pid}/status`, 'utf8'))![1]);
      const before = looks();
      await until(() => looks() >= before + 3); // it has looked at the memory since
      writeFileSync(flag, '');
      await done;
      expect(packs.ends().map((end) => end.exit_code)).toEqual([0, 0]);
    });

    turn.it('and what warm units share counts once', async () => {
      const flag = join(newFolder(), 'flag');
      const script = makeScript(`import big\n${HOLD}`, { big: 'data = b"x" * (60 * 2 ** 20)\n' });
      const args = several(4, JSON.stringify([1, false, flag]));
      const packs = packsOf({
        command: [python, script],
        packs: [args],
        parallel: 4,
        memory: 50 * MEGABYTE,
        warm: true,
      });
      const { done, process: worker } = packs.start();
      const all = await until(() => running(packs).length === 4 && running(packs));
      await until(() => [0, 1, 2, 3].every((n) => packs.log(n)));
      const resident = all.map(({ pid }) =>
        Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]),
      );
      expect(Math.min(...resident)).toBeGreaterThan(55_000);
      const looks = () =>
        Number(/voluntary_ctxt_switches:\s(\d+)/.exec(readFileSync(`/proc/${worker.pid}/status`, 'utf8'))![1]);
      const before = looks();
      await until(() => looks() >= before + 3);
      writeFileSync(flag, '');
      await done;
      expect(packs.ends().map((end) => end.exit_code)).toEqual([0, 0, 0, 0]);
    });

    turn.it.runIf(isRoot && existsSync('/sys/fs/cgroup/memory/memory.limit_in_bytes'))(
      'and what the kernel kills in the group of the job is told as lack of memory',
      async () => {
        const job = `/sys/fs/cgroup/memory/${basename(newFolder())}/job_7`;
        const group = `${job}/step_batch`;
        mkdirSync(group, { recursive: true });
        try {
          writeFileSync(join(job, 'memory.limit_in_bytes'), String(60 * MEGABYTE));
          const inside = makeScript(`#!/bin/sh\necho $$ > ${group}/cgroup.procs\nexec ${python} "$@"\n`);
          execFileSync('chmod', ['755', inside]);
          const hungry = makeScript('import json, sys\nx = b"1" * json.load(open(sys.argv[2]))\nsys.exit(1)\n');
          const options = { python: inside, packs: [['1', '300000000']], parallel: 1 };
          const { ends } = await packsOf({ command: [python, hungry], ...options }).run();
          expect(ends).toMatchObject([
            { exit_code: 1, signal: null, out_of_memory: false },
            { exit_code: null, signal: 9, out_of_memory: true, memory_limit_bytes: null },
          ]);
        } finally {
          await until(() => readFileSync(join(group, 'cgroup.procs'), 'utf8').trim() === '');
          execFileSync('rmdir', [group, job, dirname(job)]);
        }
      },
    );

    turn.it('and the counters of the step and of the job are looked at, not those of others', async () => {
      const files = async (folder: string) => {
        const said = await inWorker(
          `from worker.memory import with_job_above\nprint(*with_job_above(${JSON.stringify(folder)}, 'f'))`,
        );
        return said.trim().split(' ');
      };
      expect(await files('/m/slurm/uid_5/job_7/step_batch')).toEqual([
        '/m/slurm/uid_5/job_7/step_batch/f',
        '/m/slurm/uid_5/job_7/f',
      ]);
      expect(await files('/m/system.slice/slurmstepd.scope/job_7/step_batch/user/task_0')).toEqual(
        ['/step_batch/user/task_0', '/step_batch/user', '/step_batch', ''].map(
          (rest) => `/m/system.slice/slurmstepd.scope/job_7${rest}/f`,
        ),
      );
      expect(await files('/m/user.slice/session-2')).toEqual(['/m/user.slice/session-2/f']);
    });
  });

  describe('gives each unit CPUs of its own', () => {
    const LOOK = 'import os, time\ntime.sleep(0.2)\nprint(*sorted(os.sched_getaffinity(0)))\n';
    const all = execFileSync('python3', ['-c', 'import os; print(*sorted(os.sched_getaffinity(0)))']).toString();

    it.runIf(cpusHere === 2).each(
      turn.of([
        ['plain', false],
        ['warm', true],
      ]),
    )('which are given back and used again: %s', async (_, warm) => {
      const packs = packsOf({ command: [python, makeScript(LOOK)], packs: [several(6)], parallel: 2, cpus: 1, warm });
      const { ends, stderr } = await packs.run({ slurm: { SLURM_CPUS_ON_NODE: 2 } });
      expect(stderr).toBe('');
      const used = ends.map((end) => end.log!.trim());
      expect(used.toSorted()).toEqual([
        ...several(3, all.trim().split(' ')[0]),
        ...several(3, all.trim().split(' ')[1]),
      ]);
    });

    turn.it.runIf(cpusHere === 2)('and imports with as many, since libraries count them only once', async () => {
      const script = makeScript('import counts\nprint(counts.n)\n', {
        counts: 'import os\nn = len(os.sched_getaffinity(0))\n',
      });
      const packs = packsOf({ command: [python, script], packs: [several(2)], parallel: 2, cpus: 1, warm: true });
      const { ends } = await packs.run({ slurm: { SLURM_CPUS_ON_NODE: 2 } });
      expect(ends.map((end) => end.log)).toEqual(['1\n', '1\n']);
    });

    it.runIf(cpusHere > 1).each(
      turn.of([
        ['the scheduler does not keep jobs to their CPUs', { SLURM_CPUS_ON_NODE: cpusHere - 1 }, 1, cpusHere - 1],
        ['its job has fewer than its units want', { SLURM_CPUS_ON_NODE: cpusHere }, 2, cpusHere],
        ['nobody says how many its job has', {}, 1, cpusHere - 1],
      ]),
    )('but none when %s', async (_, slurm, cpus, parallel) => {
      const packs = packsOf({ command: [python, makeScript(LOOK)], packs: [several(2)], parallel, cpus });
      const { ends } = await packs.run({ slurm });
      expect(ends.map((end) => end.log)).toEqual([all, all]);
    });
  });

  turn.it('writes again what a file server took and then dropped', async () => {
    const path = join(newFolder(), 'journal');
    writeFileSync(path, '{"before": 1}\n');
    await inWorker(`
import os, errno, time
from worker.journal import Journal
sync, calls = os.fsync, []
def full(descriptor):
    calls.append(1)
    if len(calls) < 3:
        os.ftruncate(descriptor, os.fstat(descriptor).st_size - 5)  # some of it is lost
        raise OSError(errno.EDQUOT, 'Disk quota exceeded')
    sync(descriptor)
os.fsync = full
journal = Journal(${JSON.stringify(path)}, is_torn=False, is_durable=True)
for n in range(3):
    journal.add({'n': n})
    journal.flush()
assert not journal.flush(last=True)
while not journal.flush(last=True):
    time.sleep(0.05)
assert len(calls) == 3
`);
    expect(readFileSync(path, 'utf8')).toBe('{"before": 1}\n{"n": 0}\n{"n": 1}\n{"n": 2}\n');
  });

  turn.it('waits for files that a file server does not show yet', async () => {
    const packs = packsOf({ command: ['true'] });
    const rules = join(dirname(packs.outputs), 'inputs', 'round-3.json');
    const text = readFileSync(rules, 'utf8');
    execFileSync('mv', [rules, `${rules}.away`]);
    const { process: worker, done } = packs.start({ environment: unscheduled() });
    await until(() => worker.pid && isAlive(worker.pid));
    writeFileSync(rules, text);
    expect(await done).toEqual({ code: 0, stderr: '' });
    expect(packs.ends()).toMatchObject([{ exit_code: 0 }]);
  });
});
